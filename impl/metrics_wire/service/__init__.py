"""The Jobs service: keeps the tasks of jobs and their curves, over HTTP, in SQLite or PostgreSQL.

`schemas` says what a request may hold, `strict_json` reads it; `routes` and `overview` answer, `page` answers people;
`store` is what an update and an append do to a task, `rendering` what a reader sees of it; `database`, `tables` and
`migrations` are the storage, and `commits` writes to it; `access` and `errors` refuse; `app` puts them together,
`serve` runs them, and `cli` is the command.

How an update and an append stand to each other is declared once, in `store`.
"""
