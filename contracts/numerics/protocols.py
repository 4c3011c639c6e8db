"""What an engine must offer to be held to the contracts of this room.

Weights cross the protocol under Hugging Face names, as fp32 arrays of values that the parameter's dtype
represents exactly: ``lm_head.weight`` ``[vocab, hidden]``, ``lm_head.bias`` ``[vocab]``,
``model.embed_tokens.weight`` ``[vocab, hidden]``, ``drafter.lm_head.weight``, and whatever the body has.
Padding rows are the engine's own and do not cross.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]

HeadMode = Literal["untouched", "off", "fp32", "tf32"]
"""``untouched``: an engine that the fp32 head's code never met; ``off``: its switch is there and off."""

HEAD, BIAS, EMBEDDING = "lm_head.weight", "lm_head.bias", "model.embed_tokens.weight"
DRAFTER = "drafter."
TRANSPORTS = ("direct", "collective", "checkpoint", "delta")


@dataclass(frozen=True)
class HeadShape:
    """What is between hidden states and logits; beyond the plain head each part is a capability.

    Attributes:
        tied: the head's weight is the embedding's.
        bias: a bias is added.
        softcap: ``softcap * tanh(logits / softcap)``, last; 0 for none.
        logit_scale: a factor on the logits, after the bias.
        vocab_padding: the head has more rows than the vocabulary, and they hold large numbers.
        kind: ``plain``, or a fault that starting must refuse: ``missing`` or ``quantized``.
        drafter: a speculative drafter with its own head runs beside the policy.
    """

    tied: bool = False
    bias: bool = False
    softcap: float = 0.0
    logit_scale: float = 1.0
    vocab_padding: bool = False
    kind: str = "plain"
    drafter: bool = False


PLAIN = HeadShape()


class Prefill(Protocol):
    """One forward over a sequence.

    Attributes:
        hidden: what went into the head, ``[tokens, hidden]``.
        logits: what came out, ``[tokens, vocab]``, with the values they had in ``dtype``.
        dtype: the dtype in which the engine had the logits: ``float32``, ``bfloat16``.
        logprobs: natural-log probabilities of ``tokens[1:]`` from these logits, ``[tokens - 1]``.
    """

    @property
    def hidden(self) -> F32: ...  # noqa: D102 - described above
    @property
    def logits(self) -> F32: ...  # noqa: D102 - described above
    @property
    def dtype(self) -> str: ...  # noqa: D102 - described above
    @property
    def logprobs(self) -> F64: ...  # noqa: D102 - described above


class Gradients(Protocol):
    """One backward of the mean negative log probability of ``tokens[1:]``.

    Attributes:
        hidden: what went into the head at ``tokens[:-1]``, ``[tokens - 1, hidden]``.
        dtypes: the gradients' dtypes, by parameter.
        values: the gradients, by parameter; one that got none is absent.
    """

    @property
    def hidden(self) -> F32: ...  # noqa: D102 - described above
    @property
    def dtypes(self) -> Mapping[str, str]: ...  # noqa: D102 - described above
    @property
    def values(self) -> Mapping[str, F32]: ...  # noqa: D102 - described above


class Sample(Protocol):
    """One continuation that the engine sampled, with the log probabilities that it sampled from."""

    @property
    def tokens(self) -> Sequence[int]: ...  # noqa: D102 - described above
    @property
    def logprobs(self) -> Sequence[float]: ...  # noqa: D102 - described above


class Engine(Protocol):
    """One live engine. Methods beyond the first block belong to the capability that they name."""

    def parameters(self) -> Mapping[str, str]:
        """Names and dtypes of the parameters, from which a refit mapping is built."""

    def weights(self) -> Mapping[str, F32]:
        """The state dict."""

    def matmul_flags(self) -> Mapping[str, str]:
        """Process-wide precision settings, of every process that computes."""

    def prefill(self, tokens: Sequence[int]) -> Prefill:
        """One forward over a sequence; raises for a token id outside the vocabulary."""

    def score(self, sequences: Sequence[Sequence[int]]) -> Sequence[F64]:
        """Log probabilities of ``tokens[1:]`` of each, run as one batch."""

    def close(self) -> None:
        """Give everything back."""

    def generate(self, prompts: Sequence[Sequence[int]], *, max_tokens: int, seed: int) -> Sequence[Sample]:
        """``generate``: sample at temperature 1; equal seeds on equal engines give equal samples."""

    def refit(
        self,
        weights: Mapping[str, F32],
        *,
        transport: str,
        order: Sequence[str] = (),
        between: Callable[[], None] | None = None,
    ) -> None:
        """``refit``: take new weights through one of `TRANSPORTS` that the adapter declares.

        ``collective`` sends one weight at a time in ``order`` and calls ``between`` after each.
        """

    def head_storage(self) -> int | None:
        """``cached_head``: the address from which a captured graph reads the fp32 head."""

    def gradients(self, tokens: Sequence[int]) -> Gradients:
        """``training``: one backward; changes no weight."""

    def draft(self, tokens: Sequence[int]) -> Prefill:
        """``drafter``: the drafter's forward over a sequence."""

    def sleep(self) -> None:
        """``sleep``: give the weights' memory away."""

    def wake(self) -> None:
        """``sleep``: take memory again; the weights come by a refit."""


class EngineAdapter(Protocol):
    """Starts engines of one kind."""

    @property
    def name(self) -> str: ...  # noqa: D102 - unique among the adapters of a run
    @property
    def capabilities(self) -> frozenset[str]: ...  # noqa: D102 - names from `contracts.numerics.sides`
    @property
    def vocab(self) -> int:
        """Tokens of the vocabulary."""

    def checkpoint(self, seed: int, head: HeadShape = PLAIN) -> Mapping[str, F32]:
        """Weights whose logits are as large as production's; equal seeds give equal weights."""

    def start(self, weights: Mapping[str, F32] | None, *, mode: HeadMode, head: HeadShape = PLAIN) -> Engine:
        """Start an engine, on dummy weights if ``weights`` is None."""


class EnginePair(Protocol):
    """A trainer and a rollout engine that read one checkpoint format."""

    @property
    def name(self) -> str: ...  # noqa: D102 - as every adapter's
    @property
    def capabilities(self) -> frozenset[str]: ...  # noqa: D102 - as every adapter's
    @property
    def train(self) -> EngineAdapter: ...  # noqa: D102 - the trainer's side
    @property
    def rollout(self) -> EngineAdapter: ...  # noqa: D102 - the rollout engine's side


class Pair(EnginePair, Protocol):
    """The two engines (``engines``) and what stands between them; each method belongs to the capability it names."""

    def mismatch(
        self, lp_gen: F64, lp_train: F64, mask: F64, *, global_valid_tokens: int | None = None
    ) -> Mapping[str, float]:
        """``metrics``: means under their names in `contracts.numerics.oracle.MEANS`, and ``largest_gap``.

        The arrays are ``[sequences, tokens]``; a mean that the trainer does not have is left out. Raises where there
        is no number to give. ``global_valid_tokens`` is only passed where ``global_count`` is declared.
        """

    def keep_sequences(self, lp_gen: F64, lp_train: F64, mask: F64, *, threshold: float) -> Sequence[bool]:
        """``sequence_mask``: which sequences are trained on; ``threshold`` bounds their token_mult_prob_error."""

    def validate(self, config: Mapping[str, object]) -> None:
        """``config``: raise for a policy configuration under which the heads would not match."""
