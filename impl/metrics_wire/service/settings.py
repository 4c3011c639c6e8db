"""What one running service is told by whoever starts it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

#: Bytes of one request's body, unless told otherwise: half a million points, for who sends whole series.
DEFAULT_MAX_BODY = 32 << 20


class Rule(StrEnum):
    """What an update does to the stored ``status_details``."""

    REPLACE = "replace"
    MERGE = "merge"


@dataclass(frozen=True, slots=True)
class Settings:
    """One service.

    Attributes:
        database: URL of the database, or the path of an SQLite file.
        rule: What an update does to the stored ``status_details``.
        token: What every request has to carry; ``None`` if none is asked for.
        max_body: Bytes of a request's body beyond which it is answered 413.
        is_local: Whether it listens on loopback. Without a token it is then reached by no other name than this
            machine's own.

    Raises:
        ValueError: If the token is empty or has blanks around it, which no header can carry.
    """

    database: str
    rule: Rule = Rule.REPLACE
    token: str | None = None
    max_body: int = DEFAULT_MAX_BODY
    is_local: bool = False

    def __post_init__(self) -> None:
        if self.token is not None and (not self.token or self.token != self.token.strip()):
            raise ValueError("the token must not be empty, nor have blanks around it")
