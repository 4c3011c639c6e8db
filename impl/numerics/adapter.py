"""The reference's engines behind the room's protocols, as zero-argument factories for the command line."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import torch

from impl.numerics import metrics
from impl.numerics.checkpoint import HeadShape, LlamaShape, make_checkpoint
from impl.numerics.config import validate_fp32_lm_head_config
from impl.numerics.megatron_adapter import MegatronAdapter
from impl.numerics.mismatch_report import mismatch_sums, sequence_mult_prob_error
from impl.numerics.torch_engine import TorchEngine

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from impl.numerics.llama import HeadStrategy

HeadMode = Literal["untouched", "off", "fp32", "tf32"]

EVERY_ENGINE = frozenset(
    {"refit", "direct", "collective", "checkpoint", "delta", "partial_refit", "generate", "tied", "bias", "softcap",
     "logit_scale", "vocab_padding", "prefix_cache", "sleep", "drafter", "faults", "tf32"}
)  # fmt: skip


@dataclass(frozen=True)
class TorchAdapter:
    """Starts torch engines of one kind.

    Attributes:
        name: unique among the adapters of a run.
        strategy: how the head is computed where fp32 is on.
        fused: which attention kernel; see `impl.numerics.llama.Llama`.
        device: torch's name of the device.
    """

    name: str
    strategy: HeadStrategy = "cached"
    capabilities: frozenset[str] = EVERY_ENGINE
    shape: LlamaShape = field(default_factory=LlamaShape)
    fused: bool = True
    device: str = "cpu"

    @property
    def version(self) -> str:
        """Torch's version."""
        return str(torch.__version__)

    @property
    def vocab(self) -> int:
        """Tokens of the vocabulary."""
        return self.shape.vocab

    def checkpoint(self, seed: int, head: Any = None) -> dict[str, NDArray[np.float32]]:
        """Weights of a model, as fp32 arrays of bf16 values under Hugging Face names."""
        state = make_checkpoint(self.shape, head or HeadShape(), seed)
        return {name: tensor.float().numpy() for name, tensor in state.items()}

    def start(
        self, weights: Mapping[str, NDArray[np.float32]] | None, *, mode: HeadMode, head: Any = None
    ) -> TorchEngine:
        """Start an engine; ``weights`` None starts it on dummy weights.

        Raises:
            HeadNotFoundError: the model has no head.
            QuantizedHeadError: its head is quantized and the mode asks for fp32.
        """
        strategies: dict[str, HeadStrategy] = {"untouched": "model", "off": "model", "fp32": self.strategy}
        strategy = strategies.get(mode, "tf32")
        shape = head or HeadShape()
        return TorchEngine(self.shape, shape, strategy, weights, fused=self.fused, device=self.device)


def torch_rollout() -> TorchAdapter:
    """The rollout side: a cached fp32 head under refit."""
    return TorchAdapter("torch-cached", capabilities=EVERY_ENGINE | {"cached_head"})


def torch_trainer() -> TorchAdapter:
    """The trainer side: upcast per call, with gradients."""
    able = (EVERY_ENGINE | {"training"}) - {"sleep", "drafter", "prefix_cache"}
    return TorchAdapter("torch-trainer", strategy="per_call", fused=False, capabilities=able)


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
    capabilities = frozenset({"refit", "metrics", "config"})

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
