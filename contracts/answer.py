"""What a check reads of an HTTP answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping


class Answer(Protocol):
    """What a server answered. `contracts.http.Answer` is one."""

    @property
    def status(self) -> int:
        """HTTP status."""

    @property
    def headers(self) -> Mapping[str, str]:
        """Header names in lower case."""

    @property
    def body(self) -> bytes:
        """The whole body, also of a stream."""
