"""Answers of real servers and of the reference endpoint, as this package ships them, and corpora of the same form."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_FOLDER = "data"


class CorpusError(ValueError):
    """A corpus that cannot be read."""


@dataclass(frozen=True)
class RecordedAnswer:
    """One answer that a server gave, and what is known of it.

    Attributes:
        producer: The server, such as ``vllm 0.32.0``.
        kind: ``overflow``, ``not_overflow`` or ``ambiguous``: what the request was.
        status: HTTP status.
        body: The decoded body.
        classified: Whether Gym classified it as an overflow.
    """

    producer: str
    kind: str
    status: int
    body: str
    classified: bool


class _Row(BaseModel):
    """What every row holds; what else it holds is its own affair."""

    model_config = ConfigDict(strict=True)

    status: int
    body: str
    kind: Literal["overflow", "not_overflow", "ambiguous"]
    gym_verdict: Annotated[dict[str, bool], Field(min_length=1)]
    endpoint: str | None = None
    request: str | None = None


@cache
def measured_answers() -> tuple[RecordedAnswer, ...]:
    """Answers measured on vLLM 0.13 to 0.32: every kind, version and wording once."""
    return _shipped("measured_answers.jsonl")


@cache
def reference_answers() -> tuple[RecordedAnswer, ...]:
    """What the reference endpoint answers around its window and to every fault."""
    return _shipped("reference_answers.jsonl")


def read_corpus(path: Path) -> list[dict[str, Any]]:
    """The rows of a corpus in JSON Lines; each has at least ``status``, ``body``, ``kind`` and ``gym_verdict``.

    ``endpoint`` (the path) and ``request`` (its body as text) are what the reference middleware decides by.

    Raises:
        CorpusError: If the file cannot be read or a row lacks a field; the message names file and line.
    """
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise CorpusError(f"cannot read {path}: {error}") from error
    rows = _rows(lines, str(path))
    if not rows:
        raise CorpusError(f"{path} holds no row")
    return rows


def as_answer(row: dict[str, Any]) -> RecordedAnswer:
    """A row as a case."""
    return RecordedAnswer(
        row.get("producer", ""), row["kind"], row["status"], row["body"], all(row["gym_verdict"].values())
    )


def _shipped(name: str) -> tuple[RecordedAnswer, ...]:
    text = files("contracts.gym_overflow").joinpath(_FOLDER, name).read_text("utf-8")
    return tuple(as_answer(row) for row in _rows(text.splitlines(), name))


def _rows(lines: Iterable[str], where: str) -> list[dict[str, Any]]:
    found = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise CorpusError(f"{where}:{number}: not JSON: {error}") from error
        try:
            _Row.model_validate(row)
        except ValidationError as error:
            wrong = "; ".join(f"{'.'.join(map(str, one['loc'])) or 'the row'}: {one['msg']}" for one in error.errors())
            raise CorpusError(f"{where}:{number}: no row of a corpus: {wrong}") from error
        found.append(row)
    return found
