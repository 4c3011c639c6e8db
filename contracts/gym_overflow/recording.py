"""An endpoint recorded where it can run, so that `contracts.gym_overflow.recorded` can answer for it elsewhere.

The file holds JSON Lines: the endpoint's facts first, then every request with its answer, as they happened.
"""

from __future__ import annotations

import base64
import json as json_codec
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from contracts.verification import verify, verify_mutants

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from contracts.answer import Answer
    from contracts.gym_overflow.protocols import Endpoint
    from contracts.report.report import Report

FORMAT = "rl-contracts endpoint recording 1"
FACTS = frozenset({"name", "version", "capabilities", "model", "window", "counts_tokens"})


class Recording:
    """Any endpoint, and a file in which everything that it is asked and answers is written down.

    Args:
        inner: The endpoint; it is closed with the recording.
        path: The file; what it held before is replaced.
    """

    def __init__(self, inner: Endpoint, path: str | PathLike[str]) -> None:
        self._inner: Any = inner
        self._lock = threading.Lock()
        self._file = Path(path).open("w", encoding="utf-8")  # noqa: SIM115 - open as long as the recording
        self.name = inner.name
        self.version = inner.version
        self.capabilities = inner.capabilities
        self.model = inner.model
        self.window = inner.window
        counts = callable(inner.count_tokens)
        self.count_tokens = self._counted if counts else None
        facts = {"name": self.name, "version": self.version, "capabilities": sorted(self.capabilities)}
        self._write({"format": FORMAT, **facts, "model": self.model, "window": self.window, "counts_tokens": counts})

    def request(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Forward the request and record it with its answer. May be called from several threads at once."""
        answer: Answer = self._inner.request(method, path, json=json, content=content, headers=headers)
        self._write({"asked": asked(method, path, json, content, headers), "answer": line_of(answer)})
        return answer

    def internal_fault(self, message: str, method: str, path: str, json: Any) -> Answer:
        """Forward the request of an internal fault and record it with its answer."""
        answer: Answer = self._inner.internal_fault(message, method, path, json)
        self._write({"asked": {**asked(method, path, json), "fault": message}, "answer": line_of(answer)})
        return answer

    def _counted(self, path: str, body: Mapping[str, Any]) -> int:
        count = int(self._inner.count_tokens(path, body))
        self._write({"asked": asked("count", path, body), "count": count})
        return count

    def _write(self, line: dict[str, Any]) -> None:
        text = json_codec.dumps(line)
        with self._lock:
            self._file.write(text + "\n")

    def stop(self) -> None:
        """End the recording; the endpoint stays open."""
        self._file.close()

    def close(self) -> None:
        """End the recording and close the endpoint."""
        self.stop()
        if hasattr(self._inner, "close"):
            self._inner.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()


def record(adapter: Endpoint, path: str | PathLike[str], *, profile: str | None = None) -> Report:
    """Hold ``adapter`` to the endpoint's contract and try every mutant on it, and record both in ``path``.

    The mutants are recorded too, since some of them send requests of their own.

    Args:
        adapter: The endpoint; it stays open.
        path: The file; what it held before is replaced.
        profile: ``smoke`` or ``default``; ``deep`` draws other cases each time, so it cannot be replayed.

    Returns:
        The report of the checks.
    """
    from contracts.gym_overflow import endpoint  # noqa: PLC0415 - loads the checks, which need more than a recording

    recording = Recording(adapter, path)
    try:
        report = verify(endpoint, recording, profile=profile)
        verify_mutants(endpoint, recording)
    finally:
        recording.stop()
    return report


def asked(
    method: str,
    path: str,
    json: Any = None,
    content: bytes | None = None,
    headers: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """A request as the file holds it, whose JSON is also what it is found by."""
    request: dict[str, Any] = {"method": method, "path": path}
    if json is not None:
        request["json"] = json
    if content is not None:
        request["content"] = line_of_bytes(content)
    if headers:
        request["headers"] = dict(headers)
    return request


def line_of(answer: Answer) -> dict[str, Any]:
    """An answer as the file holds it."""
    return {"status": answer.status, "headers": dict(answer.headers), "body": line_of_bytes(answer.body)}


def line_of_bytes(data: bytes) -> str | dict[str, str]:
    """The bytes as text where they are UTF-8, so that a person can read them."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def bytes_of(line: str | dict[str, str]) -> bytes:
    """The bytes that `line_of_bytes` wrote."""
    return line.encode() if isinstance(line, str) else base64.b64decode(line["base64"])
