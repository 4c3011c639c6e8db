"""Defects that both contracts of this room seed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from contracts.mutant import Wrapper
from contracts.numerics import budgets
from contracts.numerics.altered import AlteredPrefill, prefill_with
from contracts.numerics.defects import EngineDefect
from contracts.numerics.oracle import round_to_bf16
from contracts.numerics.protocols import HEAD, PLAIN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from contracts.numerics.protocols import F32, HeadMode, HeadShape


class OneStepBehind(Wrapper):
    """computes with a head one optimizer step old"""  # noqa: D415 - a defect's name, as reports show it

    def start(self, weights: Mapping[str, F32] | None, *, mode: HeadMode, head: HeadShape = PLAIN) -> Any:
        """Start an engine, with the old head where fp32 is on."""
        if weights is not None and HEAD in weights and mode == "fp32":
            step = np.float32(budgets.BF16_UNIT) * np.sign(np.sin(np.arange(weights[HEAD].size))).astype(np.float32)
            moved = round_to_bf16(weights[HEAD] * (1 + step.reshape(weights[HEAD].shape)))
            weights = {**weights, HEAD: moved}
        return self.inner.start(weights, mode=mode, head=head)


class ShiftedByOneToken(EngineDefect):
    """Answers each token's logprob with its successor's."""

    def prefill(self, tokens: Sequence[int]) -> AlteredPrefill:
        """One forward, with its logprobs rolled by one."""
        found = self.inner.prefill(tokens)
        return prefill_with(found, logprobs=np.roll(found.logprobs, -1))
