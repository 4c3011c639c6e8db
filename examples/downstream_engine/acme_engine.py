"""A small inference engine on torch: an embedding, residual layers, and an LM head that can compute in fp32."""

from __future__ import annotations

from dataclasses import dataclass

import torch

VOCAB, HIDDEN, LAYERS = 128, 64, 2
HEAD, EMBEDDING = "lm_head.weight", "model.embed_tokens.weight"


@dataclass(frozen=True)
class Output:
    """One forward: hidden states ``[tokens, hidden]`` and logits ``[tokens, vocab]``."""

    hidden: torch.Tensor
    logits: torch.Tensor

    def logprobs(self, tokens: list[int]) -> torch.Tensor:
        """Natural-log probabilities of ``tokens[1:]``, in fp32, ``[tokens - 1]``."""
        every = torch.log_softmax(self.logits[:-1].float(), dim=-1)
        return every.gather(1, torch.tensor(tokens[1:]).unsqueeze(1)).squeeze(1)


def random_weights(seed: int) -> dict[str, torch.Tensor]:
    """A checkpoint in bf16 whose largest logits are about 30, as a trained model's are."""
    rng = torch.Generator().manual_seed(seed)
    weights = {
        EMBEDDING: torch.randn(VOCAB, HIDDEN, generator=rng),
        HEAD: torch.randn(VOCAB, HIDDEN, generator=rng) * 1.5,
    }
    for layer in range(LAYERS):
        weights[f"model.layers.{layer}.mix.weight"] = torch.randn(HIDDEN, HIDDEN, generator=rng) * HIDDEN**-0.5
    return {name: weight.bfloat16() for name, weight in weights.items()}


class Engine:
    """A model in bf16; with ``fp32_head`` its last product is computed, and left, in fp32."""

    def __init__(self, weights: dict[str, torch.Tensor], *, fp32_head: bool) -> None:
        self.weights = {name: weight.clone() for name, weight in weights.items()}
        self.fp32_head = fp32_head

    def load(self, weights: dict[str, torch.Tensor]) -> None:
        """Take new weights in place of the old ones.

        Raises:
            ValueError: If they are not all there, each in its shape; the old ones stay then.
        """
        shapes = {name: weight.shape for name, weight in self.weights.items()}
        if {name: weight.shape for name, weight in weights.items()} != shapes:
            raise ValueError("these are not the weights of this model")
        self.weights = {name: weight.clone() for name, weight in weights.items()}

    @torch.inference_mode()
    def forward(self, tokens: list[int]) -> Output:
        """Run one sequence; a token sees the mean of those before it.

        Raises:
            IndexError: If a token is not of the vocabulary.
        """
        hidden = self.weights[EMBEDDING][torch.tensor(tokens)]
        for layer in range(LAYERS):
            counts = torch.arange(1, len(tokens) + 1).unsqueeze(1)
            past = (hidden.float().cumsum(0) / counts).bfloat16()
            hidden = hidden + torch.tanh(past @ self.weights[f"model.layers.{layer}.mix.weight"].T)
        hidden = torch.nn.functional.rms_norm(hidden, (HIDDEN,))
        head = self.weights[HEAD]
        if self.fp32_head:
            return Output(hidden, hidden.float() @ head.float().T)
        return Output(hidden, hidden @ head.T)
