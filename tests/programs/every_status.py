"""A server whose OpenAPI document describes every status of every route, as many do by ``default``."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from contracts.served_document import DOCUMENT


def describing_every_status(adapter: Any) -> Any:
    """From the class of a server's adapter, that of the same server with such a document."""

    def request(self: Any, method: str, path: str, **sent: Any) -> Any:
        answer = adapter.request(self, method, path, **sent)
        if path != DOCUMENT:
            return answer
        document = json.loads(answer.body)
        for operation in (each for methods in document["paths"].values() for each in methods.values()):
            operation["responses"]["default"] = {"description": "any other", "content": {"application/json": {}}}
        return dataclasses.replace(answer, body=json.dumps(document).encode())

    return type("DescribingEveryStatus", (adapter,), {"request": request})
