"""The reference's engines behind the room's protocols, as zero-argument factories for the command line."""

from __future__ import annotations

from impl.numerics.megatron.adapter import MegatronAdapter
from impl.numerics.pairs import ReferencePair
from impl.numerics.torch_adapter import TorchAdapter, torch_rollout, torch_trainer

__all__ = [
    "ReferencePair",
    "head",
    "megatron_head",
    "megatron_head_tp2",
    "megatron_parity",
    "parity",
    "torch_rollout",
    "torch_trainer",
]


def head() -> tuple[TorchAdapter, ...]:
    """Both sides, each as one engine."""
    return torch_rollout(), torch_trainer()


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
