"""What a model of one architecture is to the trainer: how it is built, and what its weights are called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import torch

    from impl.numerics.checkpoint import HeadShape, State


class Body(Protocol):
    """An architecture with its dimensions; crosses to the worker processes, so it holds no tensors.

    Attributes:
        name: of the architecture.
        tensor_parallel: whether its layers can be split over ranks.
        foreign: names in `HeadShape` that its head does not have.
    """

    @property
    def name(self) -> str: ...  # noqa: D102 - described above
    @property
    def tensor_parallel(self) -> bool: ...  # noqa: D102 - described above
    @property
    def foreign(self) -> tuple[str, ...]: ...  # noqa: D102 - described above
    @property
    def vocab(self) -> int:
        """Tokens of the vocabulary, without padding."""

    @property
    def padding(self) -> int:
        """What padded rows of the vocabulary are a multiple of."""

    def checkpoint(self, seed: int, head: HeadShape) -> State:
        """Draw a checkpoint under Hugging Face names."""

    def options(self) -> dict[str, Any]:
        """The model's part of Megatron's ``TransformerConfig``."""

    def build(self, config: Any, rows: int, *, tied: bool) -> Any:
        """The model, from the whole ``TransformerConfig``; runs in a worker, where Megatron is imported."""

    def to_megatron(self, state: State, *, rows: int, size: int) -> list[State]:
        """A checkpoint, or a part of one, as each rank holds it.

        Raises:
            KeyError: a part of what Megatron keeps in one matrix.
        """

    def to_hugging_face(self, ranks: Sequence[Mapping[str, torch.Tensor]]) -> State:
        """The inverse, without padding rows."""
