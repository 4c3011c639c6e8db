"""An endpoint that answers from a recording, without a server."""

from __future__ import annotations

import json as json_codec
import threading
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from contracts.gym_overflow.recording import FACTS, FORMAT, asked, bytes_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from contracts.answer import Answer


class RecordingError(RuntimeError):
    """A recording that cannot be read, or does not hold what it is asked for."""


@dataclass(frozen=True, slots=True)
class PlayedBack:
    """An answer out of a recording.

    Attributes:
        status: HTTP status.
        headers: Header names in lower case.
        body: The whole body.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes


class Recorded:
    """The endpoint of a recording, which answers exactly what was recorded, without a server.

    A request that was recorded several times gets its answers in their order, and then the last one again. Recording
    and replay must be started in the same way, with the same versions: Hypothesis draws the same cases then, but some
    of them follow the constants in the project's own modules that are loaded.

    Args:
        path: A file that `Recording` wrote.

    Raises:
        RecordingError: If it cannot be read; the message names file and line.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self._path = Path(path)
        self._lock = threading.Lock()
        self._answers: dict[str, list[Any]] = defaultdict(list)
        self._given: dict[str, int] = defaultdict(int)
        facts = self._read()
        self.name: str = facts["name"]
        self.version: str = facts["version"]
        self.capabilities = frozenset(facts["capabilities"])
        self.model: str | None = facts["model"]
        self.window: int | None = facts["window"]
        self.count_tokens = self._counted if facts["counts_tokens"] else None

    def request(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """The recorded answer. May be called from several threads at once.

        Raises:
            RecordingError: If the request was not recorded.
        """
        return self._answered(asked(method, path, json, content, headers))

    def internal_fault(self, message: str, method: str, path: str, json: Any) -> Answer:
        """The recorded answer to a request during which the server raised ``ValueError(message)``."""
        return self._answered({**asked(method, path, json), "fault": message})

    def _counted(self, path: str, body: Mapping[str, Any]) -> int:
        return int(self._next(asked("count", path, body)))

    def _answered(self, request: dict[str, Any]) -> Answer:
        found = self._next(request)
        return PlayedBack(found["status"], found["headers"], bytes_of(found["body"]))

    def _next(self, request: dict[str, Any]) -> Any:
        key = json_codec.dumps(request)
        with self._lock:
            answers = self._answers.get(key)
            if answers is None:
                raise RecordingError(
                    f"{self._path} holds no answer to {request['method']} {request['path']} {key[:200]}: the contract, "
                    f"Hypothesis or what runs them changed since; record again"
                )
            number = min(self._given[key], len(answers) - 1)
            self._given[key] += 1
        return answers[number]

    def _read(self) -> dict[str, Any]:
        try:
            lines = self._path.read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise RecordingError(f"cannot read the recording {self._path}: {error}") from error
        if not lines:
            raise RecordingError(f"{self._path} is empty; record again")
        facts = self._parsed(1, lines[0])
        if not isinstance(facts, dict) or facts.get("format") != FORMAT:
            raise RecordingError(f"{self._path}:1: no recording of this format: it begins {lines[0][:80]!r}")
        if missing := FACTS - facts.keys():
            raise RecordingError(f"{self._path}:1: the recording lacks {', '.join(sorted(missing))}; record again")
        for number, text in enumerate(lines[1:], 2):
            line = self._parsed(number, text)
            self._answers[json_codec.dumps(line["asked"])].append(line.get("answer", line.get("count")))
        return facts

    def _parsed(self, number: int, text: str) -> Any:
        try:
            return json_codec.loads(text)
        except ValueError as error:
            raise RecordingError(f"{self._path}:{number}: not JSON, as if cut off: {error}; record again") from error
