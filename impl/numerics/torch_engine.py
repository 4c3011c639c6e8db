"""A small engine on torch alone: prefill, scoring, sampling, prefix cache, refit, sleep; runs everywhere.

It stands on the same parts as the real engines' side of this package: the cached head, its refit hooks and
the fp32 linear. What it adds is only what makes an engine of a model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch.nn import functional

from impl.numerics.answers import EngineStateError, Gradients, Prefill, Sample, gradients_of, prefill_of
from impl.numerics.drafter import Drafter
from impl.numerics.head_owner import resolve_lm_head_owner
from impl.numerics.llama import HeadStrategy, Llama
from impl.numerics.matmul_precision import matmul_flags
from impl.numerics.prefix_cache import PrefixCache, join_caches
from impl.numerics.quantized import refuse_quantized_layer
from impl.numerics.refit_hooks import WorkerHeads
from impl.numerics.refit_request import refuse_nonsense
from impl.numerics.torch_refit import TRANSPORTS, Refit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from impl.numerics.checkpoint import HeadShape, LlamaShape
    from impl.numerics.llama import KeysValues


class TorchEngine:
    """One live engine.

    Attributes:
        model: the policy.
        heads: its cached fp32 head, if the strategy keeps one.
    """

    def __init__(
        self,
        shape: LlamaShape,
        head: HeadShape,
        strategy: HeadStrategy,
        weights: Mapping[str, NDArray[np.float32]] | None = None,
        *,
        fused: bool = True,
        device: str = "cpu",
    ) -> None:
        """Build the model and load it.

        Args:
            shape: dimensions.
            head: what the head does besides the product.
            strategy: how the product is computed.
            weights: fp32 arrays of bf16 values under Hugging Face names; None starts on dummy weights.
            fused: which attention kernel; see `Llama`.
            device: torch's name of the device.

        Raises:
            HeadNotFoundError: the model has no head.
            QuantizedHeadError: its head is quantized and the strategy asks for fp32.
        """
        torch.manual_seed(0)
        self.shape, self.device = shape, device
        self.model = Llama(shape, head, strategy, fused=fused).to(device)
        self.drafter = Drafter(shape).to(device) if head.drafter else None
        self.heads = WorkerHeads(self.model, self.drafter) if strategy == "cached" else None
        if strategy in ("per_call", "tf32"):
            refuse_quantized_layer(resolve_lm_head_owner(self.model).get_submodule("lm_head"), "lm_head")
        self._refit = Refit(self.model, self.drafter, self.heads)
        self._prefixes = PrefixCache()
        self._unusable = ""
        if weights is not None:
            self.refit(weights, transport="direct")

    def parameters(self) -> dict[str, str]:
        """Names and dtypes of the parameters, from which a refit mapping is built."""
        return {name: str(p.dtype).removeprefix("torch.") for name, p in self._named()}

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """The state dict, as fp32 arrays; padding rows are the engine's own and left out."""
        state = dict(self.model.state_dict())
        if self.drafter is not None:
            state |= {f"drafter.{name}": tensor for name, tensor in self.drafter.state_dict().items()}
        vocab = self.shape.vocab
        return {
            name: (t[:vocab] if "embed" in name or "lm_head" in name else t).float().cpu().numpy().copy()
            for name, t in state.items()
        }

    def matmul_flags(self) -> dict[str, str]:
        """Torch's process-wide precision settings."""
        return matmul_flags()

    def head_storage(self) -> int | None:
        """The address from which a captured graph would read the fp32 head; None without a copy."""
        return None if self.heads is None else self.heads.cached[0].storage_address

    @torch.no_grad()
    def prefill(self, tokens: Sequence[int]) -> Prefill:
        """One forward over a sequence, without cache."""
        hidden, _ = self._forward(torch.tensor([list(tokens)]))
        return prefill_of(hidden[0], self.model.compute_logits(hidden[0]), tokens)

    @torch.no_grad()
    def draft(self, tokens: Sequence[int]) -> Prefill:
        """The drafter's forward over a sequence."""
        if self.drafter is None:
            raise EngineStateError("this engine was started without a drafter")
        hidden, _ = self._forward(torch.tensor([list(tokens)]))
        mine = self.drafter(hidden[0])
        return prefill_of(mine, self.drafter.compute_logits(mine), tokens)

    @torch.no_grad()
    def score(self, sequences: Sequence[Sequence[int]]) -> list[NDArray[np.float64]]:
        """Log probabilities of ``tokens[1:]`` of each sequence, run as one batch padded on the right."""
        longest = max(map(len, sequences))
        batch = torch.tensor([[*tokens, *[0] * (longest - len(tokens))] for tokens in sequences])
        hidden, _ = self._forward(batch)
        logprobs = functional.log_softmax(self.model.compute_logits(hidden[:, :-1]).float(), dim=-1)
        taken = logprobs.gather(-1, batch[:, 1:, None].to(self.device)).squeeze(-1).double().cpu().numpy()
        return [row[: len(tokens) - 1] for row, tokens in zip(taken, sequences, strict=True)]

    @torch.no_grad()
    def generate(self, prompts: Sequence[Sequence[int]], *, max_tokens: int, seed: int) -> list[Sample]:
        """Sample ``max_tokens``, at least 1, after each prompt at temperature 1, token by token from the cache."""
        if max_tokens < 1:
            raise ValueError(f"max_tokens is {max_tokens}: sample at least one token")
        known = [self._prefixes.longest(prompt) for prompt in prompts]
        groups: dict[tuple[int, int], list[int]] = {}
        for i, (prompt, (length, _)) in enumerate(zip(prompts, known, strict=True)):
            groups.setdefault((len(prompt), length), []).append(i)
        samples: dict[int, Sample] = {}
        for (_, length), members in groups.items():
            past = join_caches([known[i][1] for i in members])
            batch = torch.tensor([list(prompts[i]) for i in members])
            seeds = [seed + i for i in members]
            samples |= dict(zip(members, self._continue(batch, length, past, max_tokens, seeds), strict=True))
        return [samples[i] for i in range(len(prompts))]

    def refit(
        self,
        weights: Mapping[str, NDArray[np.float32]],
        *,
        transport: str,
        order: Sequence[str] = (),
        between: Callable[[], None] | None = None,
    ) -> None:
        """Take new weights, all or a part.

        A refit that fails leaves the engine refusing to run, until one with all weights succeeds.

        Args:
            weights: fp32 arrays of bf16 values.
            transport: see `impl.numerics.torch_refit`.
            order: the order of the batches; empty for that of ``weights``.
            between: called after each batch, for example to run a forward.

        Raises:
            KeyError: an unknown name.
            ValueError: a wrong size, no such transport, or an order of other weights.
            EngineStateError: part of the weights, while the engine has none.
        """
        state = {name: torch.from_numpy(np.asarray(array)).bfloat16() for name, array in weights.items()}
        tied = {"lm_head.weight"} if self.model.head.tied else set()
        order = order or tuple(state)
        refuse_nonsense(state, transport=transport, order=order, offered=TRANSPORTS)
        missing = {name for name, _ in self._named()} - state.keys() - tied
        if self._unusable and missing:
            raise EngineStateError(f"{self._unusable}; send all weights ({len(missing)} are missing)")
        before, self._unusable = self._unusable, ""
        try:
            self._refit.carry(state, transport=transport, order=order, between=between)
        except BaseException:
            self._unusable = before or "a refit failed and left old and new weights mixed"
            raise
        finally:
            self._prefixes.clear()

    def sleep(self) -> None:
        """Give the weights' memory away."""
        for _, parameter in self._named():
            parameter.data.fill_(float("nan"))
        self._prefixes.clear()
        if self.heads is not None:
            self.heads.invalidate()
        self._unusable = "the engine slept and its weights are gone"

    def wake(self) -> None:
        """Take memory again; the engine runs once all weights were sent."""

    def gradients(self, tokens: Sequence[int]) -> Gradients:
        """Run one backward of the mean negative log probability of ``tokens[1:]``.

        Raises:
            DetachedHeadError: the head is a cached copy, which no gradient leaves.
        """
        self.model.zero_grad(set_to_none=True)
        batch = torch.tensor([list(tokens)])
        hidden, _ = self._forward(batch)
        logits = self.model.compute_logits(hidden[0, :-1]).float()
        functional.cross_entropy(logits, batch[0, 1:].to(self.device)).backward()  # type: ignore[no-untyped-call]  # torch's own
        found = {name: p.grad for name, p in self.model.named_parameters() if p.grad is not None}
        self.model.zero_grad(set_to_none=True)
        return gradients_of(hidden[0, :-1].detach(), found)

    def close(self) -> None:
        """Nothing outlives the object."""

    def _named(self) -> list[tuple[str, torch.nn.Parameter]]:
        mine = list(self.model.named_parameters())
        if self.drafter is not None:
            mine += [(f"drafter.{name}", p) for name, p in self.drafter.named_parameters()]
        return mine

    def _forward(
        self, batch: torch.Tensor, past: list[KeysValues] | None = None
    ) -> tuple[torch.Tensor, list[KeysValues]]:
        if self._unusable:
            raise EngineStateError(f"{self._unusable}: refit all weights before the next forward")
        # On the host: an index outside an embedding on a CUDA device ends every later call of the process.
        if not batch.numel() or not 0 <= int(batch.min()) <= int(batch.max()) < self.shape.vocab:
            raise ValueError(f"a forward needs tokens, with ids in [0, {self.shape.vocab})")
        hidden, caches = self.model.model(batch.to(self.device), past)
        return hidden, caches

    def _continue(
        self, prompts: torch.Tensor, known: int, past: list[KeysValues] | None, max_tokens: int, seeds: Sequence[int]
    ) -> list[Sample]:
        """Sample after prompts of equal length whose first ``known`` tokens are in ``past``."""
        generators = [torch.Generator().manual_seed(seed) for seed in seeds]
        hidden, past = self._forward(prompts[:, known:], past)
        for i, prompt in enumerate(prompts.tolist()):
            self._prefixes.keep(prompt, [(k[i : i + 1], v[i : i + 1]) for k, v in past])
        tokens: list[torch.Tensor] = []
        logprobs: list[torch.Tensor] = []
        while True:
            spread = functional.log_softmax(self.model.compute_logits(hidden[:, -1]).float(), dim=-1).cpu()
            drawn = [
                torch.multinomial(row.double().exp(), 1, generator=generator)
                for row, generator in zip(spread, generators, strict=True)
            ]
            tokens.append(torch.cat(drawn))
            logprobs.append(spread.gather(-1, tokens[-1][:, None])[:, 0])
            if len(tokens) == max_tokens:
                rows = torch.stack(tokens, 1).tolist(), torch.stack(logprobs, 1).double().tolist()
                return [Sample(tuple(t), tuple(lp)) for t, lp in zip(*rows, strict=True)]
            hidden, past = self._forward(tokens[-1][:, None], past)
