"""How often Gym's client sends a request that is answered with an error, release by release, as measured."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

WITHOUT_END = None
"""The client repeats until it is answered otherwise."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Requests that one release's client sends for one answer that stays an error.

    Attributes:
        gym: The Gym release it was measured on.
        requests: Requests by status, the first included; None repeats without end. Any other status costs one.
    """

    gym: str
    requests: Mapping[int, int | None]

    def tries_again(self, status: int, sent: int) -> bool:
        """Say whether the client sends another request after `sent` of them, the last answered with `status`."""
        most = self.requests.get(status, 1)
        return most is WITHOUT_END or sent < most


def _policy(gym: str, requests: dict[int, int | None]) -> RetryPolicy:
    return RetryPolicy(gym, MappingProxyType(requests))


_OVERLOADED = (429, 502, 503, 504, 520)

POLICIES: Mapping[str, RetryPolicy] = MappingProxyType(
    {
        policy.gym: policy
        for policy in (
            _policy("0.2.0", {500: 3, **dict.fromkeys(_OVERLOADED, 3)}),
            _policy("0.4.0", {500: 3, **dict.fromkeys(_OVERLOADED, WITHOUT_END)}),
            _policy("0.5.0", {500: 3, **dict.fromkeys(_OVERLOADED, WITHOUT_END)}),
            _policy("0.7.0", {404: 3, 408: 3, 500: 3, **dict.fromkeys(_OVERLOADED, 3)}),
        )
    }
)
"""The measured policies, by Gym release."""

GYM_0_7_0 = POLICIES["0.7.0"]
