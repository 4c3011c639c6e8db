"""Makes the served OpenAPI document say exactly what the reference endpoint does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastapi import FastAPI

_UNUSED_SCHEMAS = ("HTTPValidationError", "ValidationError")


def exact_openapi(app: FastAPI, model: str) -> None:
    """Correct an application's document: invalid requests are 400 (FastAPI says 422), and one model is served.

    Args:
        app: The application, with all its routes.
        model: The only model name that is not answered 404.
    """
    document = app.openapi()
    for operations in document["paths"].values():
        for operation in operations.values():
            operation["responses"].pop("422", None)
    schemas: dict[str, dict[str, Any]] = document["components"]["schemas"]
    for name in _UNUSED_SCHEMAS:
        schemas.pop(name, None)
    for schema in schemas.values():
        if {"messages", "input", "prompt"} & schema.get("properties", {}).keys():
            _serve_only(schema, model)


def _serve_only(schema: dict[str, Any], model: str) -> None:
    named = schema["properties"]["model"]
    if named.get("type") == "string":
        named["enum"] = [model]
    else:
        named["anyOf"] = [{"type": "string", "enum": [model]}, {"type": "null"}]
