"""The reference's engines behind the room's protocols, as zero-argument factories for the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from impl.numerics import metrics
from impl.numerics.config import validate_fp32_lm_head_config
from impl.numerics.megatron.adapter import MegatronAdapter
from impl.numerics.mismatch_report import mismatch_sums, sequence_mult_prob_error
from impl.numerics.torch_adapter import TorchAdapter, torch_rollout, torch_trainer

__all__ = ["head", "megatron_head", "megatron_head_tp2", "megatron_parity", "parity", "torch_rollout", "torch_trainer"]

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray


def head() -> tuple[TorchAdapter, ...]:
    """Both sides, each as one engine."""
    return torch_rollout(), torch_trainer()


class ReferencePair:
    """A trainer and a rollout engine, with the trainer's metrics and the configuration's validation.

    Attributes:
        train: the trainer's side.
        rollout: the rollout engine's side.
    """

    version = str(torch.__version__)
    capabilities = frozenset({"engines", "refit", "metrics", "global_count", "sequence_mask", "config"})

    def __init__(self, train: TorchAdapter | MegatronAdapter, rollout: TorchAdapter) -> None:
        self.train, self.rollout = train, rollout
        self.name = f"{train.name}+{rollout.name}"

    def close(self) -> None:
        """Close the side that holds processes."""
        if isinstance(self.train, MegatronAdapter):
            self.train.close()

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


def parity() -> ReferencePair:
    """Both sides on torch, together."""
    return ReferencePair(torch_trainer(), torch_rollout())


def megatron_head() -> MegatronAdapter:
    """Megatron-Core as one engine, on one rank."""
    return MegatronAdapter(1)


def megatron_head_tp2() -> MegatronAdapter:
    """Megatron-Core as one engine, on two tensor-parallel ranks."""
    return MegatronAdapter(2)


def megatron_parity() -> ReferencePair:
    """Megatron-Core as the trainer of a torch rollout engine."""
    return ReferencePair(megatron_head(), torch_rollout())
