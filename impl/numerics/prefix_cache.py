"""Keys and values of token prefixes already seen. Keyed by tokens, not by weights: a refit must clear it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from impl.numerics.llama import KeysValues

BLOCK = 4


class PrefixCache:
    """Whole blocks of prompts, as paged engines share them."""

    def __init__(self) -> None:
        self._blocks: dict[tuple[int, ...], list[KeysValues]] = {}

    def longest(self, prompt: Sequence[int]) -> tuple[int, list[KeysValues] | None]:
        """The longest cached prefix that leaves at least one token to run: its length and its caches."""
        for length in range((len(prompt) - 1) // BLOCK * BLOCK, 0, -BLOCK):
            found = self._blocks.get(tuple(prompt[:length]))
            if found is not None:
                return length, found
        return 0, None

    def keep(self, prompt: Sequence[int], caches: list[KeysValues]) -> None:
        """Remember the whole blocks of a prompt."""
        length = len(prompt) // BLOCK * BLOCK
        if length:
            self._blocks[tuple(prompt[:length])] = [(k[:, :, :length], v[:, :, :length]) for k, v in caches]

    def clear(self) -> None:
        """Forget everything."""
        self._blocks.clear()


def join_caches(caches: Sequence[list[KeysValues] | None]) -> list[KeysValues] | None:
    """Put the caches of several sequences of equal length into one batch; None where they are None."""
    known = [cache for cache in caches if cache is not None]
    if not known:
        return None
    layers = zip(*known, strict=True)
    return [(torch.cat([k for k, _ in layer]), torch.cat([v for _, v in layer])) for layer in layers]
