"""The Jobs service: keeps the tasks of jobs and their curves, over HTTP, in SQLite or PostgreSQL.

- `schemas` and `json_values` say what a request may hold, and `strict_json` reads it;
- `routes` and `overview` answer it, `page` answers people, `access` and `errors` refuse;
- `store` is what an update and an append do to a task, and `rendering` what a reader sees of it;
- `database`, `tables`, `statements` and `migrations` are the storage, and `commits` writes to it;
- `app` puts them together, `serve` runs them, and `cli` is the command, whose readers are `source` and `curves`.

How an update and an append stand to each other is declared once, in `store`.
"""
