"""A trainer and a rollout engine together, behind the protocol of a pair."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from impl.numerics import metrics
from impl.numerics.config import validate_fp32_lm_head_config
from impl.numerics.mismatch_report import mismatch_sums, sequence_mult_prob_error

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray


class ReferencePair:
    """A trainer and a rollout engine, with the trainer's metrics and the configuration's validation.

    Attributes:
        train: the trainer's side.
        rollout: the rollout engine's side.
        name: both names.
        version: both versions.
    """

    capabilities = frozenset({"engines", "refit", "metrics", "global_count", "sequence_mask", "config"})

    def __init__(self, train: Any, rollout: Any) -> None:
        """Hold two adapters together that read one checkpoint format.

        Raises:
            ValueError: their vocabularies differ.
        """
        if train.vocab != rollout.vocab:
            raise ValueError(f"{train.name} has {train.vocab} tokens and {rollout.name} {rollout.vocab}")
        self.train, self.rollout = train, rollout
        self.name = f"{train.name}+{rollout.name}"
        self.version = " and ".join(dict.fromkeys((str(train.version), str(rollout.version))))

    def close(self) -> None:
        """Close the sides that hold engines or processes."""
        for side in (self.rollout, self.train):
            if hasattr(side, "close"):
                side.close()

    def mismatch(
        self,
        lp_gen: NDArray[np.float64],
        lp_train: NDArray[np.float64],
        mask: NDArray[np.float64],
        *,
        global_valid_tokens: int | None = None,
    ) -> dict[str, float]:
        """The mismatch metrics of `impl.numerics.metrics`, and ``largest_gap``.

        Raises:
            NoTokensError: no valid token in the batch.
            NonFiniteLogprobError: a valid token is not finite.
        """
        tensors = tuple(map(torch.from_numpy, (lp_gen, lp_train, mask)))
        means = (
            metrics.token_mult_prob_error,
            metrics.gen_kl_error,
            metrics.policy_kl_error,
            metrics.js_divergence_error,
            metrics.sampling_importance_ratio,
        )
        found = {mean.__name__: mean(*tensors, global_valid_tokens=global_valid_tokens) for mean in means}
        return {**found, "largest_gap": mismatch_sums(*tensors).largest_gap}

    def keep_sequences(
        self,
        lp_gen: NDArray[np.float64],
        lp_train: NDArray[np.float64],
        mask: NDArray[np.float64],
        *,
        threshold: float,
    ) -> list[bool]:
        """Which sequences are trained on; see `SequenceErrors.keep`."""
        tensors = tuple(map(torch.from_numpy, (lp_gen, lp_train, mask)))
        kept: list[bool] = sequence_mult_prob_error(*tensors).keep(threshold).tolist()
        return kept

    def validate(self, config: Mapping[str, Any]) -> None:
        """Validate a policy configuration.

        Raises:
            HeadConfigError: the heads would not match.
        """
        validate_fp32_lm_head_config(config)
