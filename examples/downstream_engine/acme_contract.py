"""The engine behind the protocol of ``numerics.head``: what goes in and out as numpy, in fp32."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import acme_engine
import torch

from contracts.numerics.protocols import PLAIN, HeadMode, HeadShape

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from contracts.numerics.protocols import F32, F64, EngineAdapter


@dataclass(frozen=True)
class Prefill:
    """One forward, as the contract looks at it."""

    hidden: F32
    logits: F32
    dtype: str
    logprobs: F64


class LiveEngine:
    """One running engine. Methods of capabilities that are not declared are not there."""

    def __init__(self, engine: acme_engine.Engine) -> None:
        self.engine = engine

    def parameters(self) -> dict[str, str]:
        """Names and dtypes."""
        return {name: str(weight.dtype).removeprefix("torch.") for name, weight in self.engine.weights.items()}

    def weights(self) -> dict[str, F32]:
        """The state dict."""
        return {name: weight.float().numpy() for name, weight in self.engine.weights.items()}

    def matmul_flags(self) -> dict[str, str]:
        """Process-wide precision settings, which a forward must leave as they are."""
        return {"float32_matmul_precision": torch.get_float32_matmul_precision()}

    def prefill(self, tokens: Sequence[int]) -> Prefill:
        """One forward over a sequence."""
        output = self.engine.forward(list(tokens))
        return Prefill(
            hidden=output.hidden.float().numpy(),
            logits=output.logits.float().numpy(),
            dtype=str(output.logits.dtype).removeprefix("torch."),
            logprobs=output.logprobs(list(tokens)).double().numpy(),
        )

    def score(self, sequences: Sequence[Sequence[int]]) -> list[F64]:
        """Log probabilities of each sequence."""
        return [self.prefill(sequence).logprobs for sequence in sequences]

    def refit(self, weights: Mapping[str, F32], *, transport: str, **_how: Any) -> None:
        """Take new weights, all of them at once."""
        if transport != "direct":
            raise ValueError(f"the engine has no transport {transport}")
        self.engine.load(tensors(weights))

    def close(self) -> None:
        """Nothing is held."""


def tensors(weights: Mapping[str, F32]) -> dict[str, torch.Tensor]:
    """The engine's weights, of copies: the contract's arrays stay its own."""
    return {name: torch.tensor(value).bfloat16() for name, value in weights.items()}


def refuse_other_than_plain(head: HeadShape) -> None:
    """What is not declared is refused."""
    if head != PLAIN:
        raise ValueError(f"the engine has no head of the shape {head}")


class Adapter:
    """Starts engines for the contract: plain models that score, and take new weights in one piece."""

    name = "acme engine"
    version = "0.1"
    capabilities = frozenset({"refit", "direct"})
    vocab = acme_engine.VOCAB

    def checkpoint(self, seed: int, head: HeadShape = PLAIN) -> dict[str, F32]:
        """Weights under Hugging Face names."""
        refuse_other_than_plain(head)
        return {name: weight.float().numpy() for name, weight in acme_engine.random_weights(seed).items()}

    def start(self, weights: Mapping[str, F32] | None, *, mode: HeadMode, head: HeadShape = PLAIN) -> Any:
        """Start an engine, on weights of its own if it is given none."""
        refuse_other_than_plain(head)
        if mode == "tf32":
            raise ValueError("the engine's head does not run in TF32")
        given = acme_engine.random_weights(seed=0) if weights is None else tensors(weights)
        return LiveEngine(acme_engine.Engine(given, fp32_head=mode == "fp32"))


def adapter() -> EngineAdapter:
    """What ``contracts run numerics.head --adapter acme_contract:adapter`` calls."""
    return Adapter()
