"""A Jobs service at a base URL, as an adapter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Self

import httpx

from contracts.http import Answer, read

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class UrlService:
    """A Jobs service that runs at a base URL. One that can be killed is a subclass with ``kill`` and ``restart``.

    Args:
        base_url: Such as ``http://127.0.0.1:8000``.
        update_rule: What an update does to the stored ``status_details``.
        capabilities: What the service can do, by the names that its contract knows.
        keeps_appended: Whether appended points outlive an update without ``metrics``, where updates replace.
        max_body: Bytes of the longest body that is taken; 0 where ``body_limit`` is not declared.
        name: Name in reports, by default the URL.
        version: Version in reports.
        timeout_s: Seconds to wait for an answer.
    """

    def __init__(
        self,
        base_url: str,
        update_rule: Literal["replace", "merge"],
        *,
        capabilities: Iterable[str] = (),
        keeps_appended: bool = True,
        max_body: int = 0,
        name: str | None = None,
        version: str = "",
        timeout_s: float = 30.0,
    ) -> None:
        self.name = name or base_url
        self.version = version
        self.capabilities = frozenset(capabilities)
        self.update_rule = update_rule
        self.keeps_appended = keeps_appended
        self.max_body = max_body
        self.base_url = base_url
        self._client = httpx.Client(timeout=timeout_s, trust_env=False)

    def request(
        self,
        method: str,
        path: str,
        *,
        content: bytes | Iterable[bytes] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send one request and read the whole answer. May be called from several threads at once."""
        try:
            answer = self._client.request(method, f"{self.base_url}{path}", content=content, headers=headers)
        except httpx.TransportError:
            return Answer(0, {}, b"")
        return read(answer)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()
