"""verl's rollout correction (``verl.trainer.ppo.rollout_corr_helper``) as the mismatch metrics of a trainer."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

import torch
from verl.trainer.ppo.rollout_corr_helper import compute_offpolicy_metrics, compute_rollout_correction_weights

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NEVER = 1e300
"""A threshold of the importance weights that truncates none: verl reports the mean of truncated ones only."""


class VerlMetrics:
    """The two of the five means that verl has, under our names.

    ``k3_kl`` is ``gen_kl_error``, and ``rollout_is_mean`` of untruncated token weights ``sampling_importance_ratio``.
    The others have no counterpart, and neither has a largest gap of single tokens.

    Attributes:
        name: verl and what of it is held.
        version: verl's.
    """

    name = "verl rollout correction"
    version = version("verl")
    capabilities = frozenset({"metrics"})

    def mismatch(
        self, lp_gen: NDArray[np.float64], lp_train: NDArray[np.float64], mask: NDArray[np.float64]
    ) -> dict[str, float]:
        """The means of one batch, in the precision in which it comes.

        Raises:
            AssertionError: verl's own, where no token is valid.
        """
        gen, train, valid = torch.from_numpy(lp_gen), torch.from_numpy(lp_train), torch.from_numpy(mask)
        divergence = compute_offpolicy_metrics(old_log_prob=train, rollout_log_prob=gen, response_mask=valid)
        _, weights = compute_rollout_correction_weights(train - gen, valid, "token", NEVER)
        return {
            "gen_kl_error": divergence["k3_kl"],
            "sampling_importance_ratio": weights["rollout_is_mean"],
        }
