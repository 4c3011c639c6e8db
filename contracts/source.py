"""Where a rule comes from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Source:
    """The origin of a check: a place that can be looked up, and what it says in our own words.

    Attributes:
        place: A citable place, such as ``NVIDIA-NeMo/Gym 0.7.0 responses_api_models/vllm_model/app.py:988``.
        fact: What that place says, as one sentence.
    """

    place: str
    fact: str

    def __post_init__(self) -> None:
        if not self.place.strip() or not self.fact.strip():
            raise ValueError("a Source needs a place that can be looked up and the fact it states")

    @classmethod
    def ours(cls, reason: str) -> Source:
        """A rule that this project's own reference defines, and why it does."""
        return cls("rl-contracts reference", reason)

    def __str__(self) -> str:
        return f"{self.place} - {self.fact}"
