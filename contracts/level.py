"""How binding a check is."""

from enum import StrEnum


class Level(StrEnum):
    """How binding a check is, in the sense of RFC 2119.

    A failed ``MUST`` fails the run. A failed ``SHOULD`` is reported and does not.
    """

    MUST = "MUST"
    SHOULD = "SHOULD"
