"""A vLLM engine behind the methods of an engine: prefill, score, generate, refit."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from safetensors.torch import load
from vllm import LLM, SamplingParams

from impl.numerics.answers import EngineStateError, Prefill, Sample, arrays_of
from impl.numerics.refit_request import refuse_nonsense
from impl.numerics.vllm.checkpoint import MAX_MODEL_LEN
from impl.numerics.vllm.in_process import release, spare_collector
from impl.numerics.vllm.plain_weights import plain_weights
from impl.numerics.vllm.refit import TRANSPORTS, Refit
from impl.numerics.vllm.starting import WORKER_EXTENSION, require_fp32_head, switched

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from impl.numerics.vllm.body import Body
    from impl.numerics.vllm.switch import HeadStrategy


def small_engine(body: Body) -> dict[str, Any]:
    """Options under which a tiny model starts fast, on CPU and on a GPU."""
    return {
        "enforce_eager": True,
        "skip_tokenizer_init": True,
        "dtype": "bfloat16",
        "max_num_seqs": 8,
        "max_model_len": MAX_MODEL_LEN,
        "block_size": 32,
        "kv_cache_memory_bytes": 1 << 23 if body.prefix_caching else 1 << 25,
        "enable_prefix_caching": body.prefix_caching,
        "disable_log_stats": True,
        "seed": 0,
        "worker_extension_cls": WORKER_EXTENSION,
    }


class VllmEngine:
    """One live engine.

    Attributes:
        llm: vLLM's own object.
        body: the model's architecture.
        strategy: of the fp32 head; None where it is off.
    """

    def __init__(
        self,
        body: Body,
        folder: Path,
        strategy: HeadStrategy | None = None,
        *,
        plain: bool = False,
        **options: Any,
    ) -> None:
        """Start on a checkpoint folder, and prove the fp32 head where one is asked for.

        Args:
            body: the model's architecture.
            folder: as `impl.numerics.vllm.checkpoint.write_folder` writes it.
            strategy: of the fp32 head; None for off.
            plain: see `plain_weights`; only for an engine inside this process.
            options: vLLM's own, over those of `small_engine`; ``load_format="dummy"`` starts on dummy weights.

        Raises:
            HeadSwitchError: this vLLM cannot do it that way.
            HeadNotFoundError: the model has no head, and fp32 was asked for.
            QuantizedHeadError: its head is quantized, and fp32 was asked for.
            Fp32HeadError: its logits are not fp32.
            PluginNotLoadedError: a worker has no fp32 head.
        """
        self.body, self.strategy = body, strategy
        self._unusable = ""
        spare_collector()
        with switched(strategy), plain_weights() if plain else nullcontext():
            self.llm = LLM(model=str(folder), **{**small_engine(body), **options})
        try:
            if strategy is not None:
                require_fp32_head(self.llm, strategy)
        except BaseException:
            self.close()
            raise
        self._refit = Refit(self.llm, body)

    def parameters(self) -> dict[str, str]:
        """Names and dtypes of the first rank's parameters, as vLLM calls them."""
        return dict(self._call("rlc_parameters")[0])

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """The state dict under Hugging Face names, as fp32 arrays without padding rows.

        Raises:
            EngineStateError: vLLM holds some of them only packed.
        """
        held = load(self._call("rlc_state")[0])
        if gone := [name for name, tensor in held.items() if not tensor.numel()]:
            raise EngineStateError(
                f"vLLM packed {len(gone)} weights for this CPU and let them go, {gone[0]} among them: start the "
                f"engine with plain=True to read its weights"
            )
        return arrays_of(self.body.to_hugging_face(held))

    def matmul_flags(self) -> dict[str, str]:
        """Precision settings of every worker's process."""
        flags = self._call("rlc_matmul_flags")
        return {f"rank{rank}.{name}": value for rank, found in enumerate(flags) for name, value in found.items()}

    def prefill(self, tokens: Sequence[int]) -> Prefill:
        """One forward over a sequence."""
        self._call("rlc_record")
        logprobs = self.score([tokens])[0]
        recorded = load(next(filter(None, self._call("rlc_recorded"))))
        hidden, logits = recorded["hidden"], recorded["logits"]
        return Prefill(
            hidden.float().numpy(), logits.float().numpy(), str(logits.dtype).removeprefix("torch."), logprobs
        )

    def score(self, sequences: Sequence[Sequence[int]]) -> list[NDArray[np.float64]]:
        """Log probabilities of ``tokens[1:]`` of each sequence, as one batch of prompts."""
        sampling = SamplingParams(max_tokens=1, temperature=0.0, prompt_logprobs=0, detokenize=False)
        answers = self._generate(sequences, [sampling] * len(sequences))
        return [
            np.array([entry[t].logprob for entry, t in zip(answer.prompt_logprobs[1:], tokens[1:], strict=True)])
            for answer, tokens in zip(answers, sequences, strict=True)
        ]

    def generate(self, prompts: Sequence[Sequence[int]], *, max_tokens: int, seed: int) -> list[Sample]:
        """Sample ``max_tokens`` after each prompt at temperature 1, the n-th with ``seed + n``."""
        sampling = [
            SamplingParams(
                max_tokens=max_tokens, temperature=1.0, seed=seed + n, logprobs=0, ignore_eos=True, detokenize=False
            )
            for n in range(len(prompts))
        ]
        completions = [answer.outputs[0] for answer in self._generate(prompts, sampling)]
        return [
            Sample(
                tuple(c.token_ids),
                tuple(entry[token].logprob for entry, token in zip(c.logprobs, c.token_ids, strict=True)),
            )
            for c in completions
        ]

    def refit(
        self,
        weights: Mapping[str, NDArray[np.float32]],
        *,
        transport: str,
        order: Sequence[str] = (),
        between: Callable[[], None] | None = None,
    ) -> None:
        """Take new weights, all or a part, and forget every cached prefix.

        A refit that breaks off before it loads leaves the old weights; one that fails while it loads leaves an engine
        that refuses to run until one with all weights succeeds.

        Args:
            weights: fp32 arrays of bf16 values under Hugging Face names.
            transport: see `impl.numerics.vllm.refit`.
            order: the order in which ``collective`` sends them; empty for that of ``weights``.
            between: called after each that ``collective`` sent.

        Raises:
            ValueError: no such transport, or an order of other weights.
            EngineStateError: part of the weights, where an earlier refit failed.
        """
        state = {name: torch.from_numpy(np.asarray(array)).bfloat16() for name, array in weights.items()}
        complete = not self._names() - state.keys()
        order = order or tuple(state)
        refuse_nonsense(state, transport=transport, order=order, offered=TRANSPORTS)
        if self._unusable and not complete:
            raise EngineStateError(f"{self._unusable}; send all weights")
        try:
            self._refit.carry(state, transport=transport, order=order, complete=complete, between=between)
        except BaseException:
            if not all(self._call("rlc_usable")):
                self._unusable = "a refit failed and left old and new weights mixed"
            raise
        finally:
            self.llm.reset_prefix_cache()
        self._unusable = ""

    def head_storage(self) -> int | None:
        """The address of the first rank's fp32 copy; None where there is none."""
        address: int | None = self._call("rlc_copy")[0]["address"]
        return address

    def head_bytes(self) -> int:
        """Size of the fp32 copies of all ranks."""
        return sum(found["bytes"] for found in self._call("rlc_copy"))

    def fill_padding(self, value: float) -> None:
        """Write a number into the head's padding rows."""
        self._call("rlc_fill_padding", value)

    def close(self) -> None:
        """Stop the engine and its processes, and give its memory back."""
        release(self.llm)
        del self.llm

    def _names(self) -> set[str]:
        """What a complete update holds."""
        return self.body.names(tied="lm_head.weight" not in self._call("rlc_parameters")[0])

    def _generate(self, prompts: Sequence[Sequence[int]], sampling: Sequence[SamplingParams]) -> list[Any]:
        for tokens in prompts:
            if not tokens or not 0 <= min(tokens) <= max(tokens) < self.body.vocab:
                raise ValueError(f"a request needs tokens, with ids in [0, {self.body.vocab})")
        if self._unusable:
            raise EngineStateError(f"{self._unusable}: refit all weights before the next request")
        inputs = [{"prompt_token_ids": list(tokens)} for tokens in prompts]
        answers: list[Any] = self.llm.generate(inputs, list(sampling), use_tqdm=False)
        return answers

    def _call(self, method: str, *arguments: Any) -> list[Any]:
        return list(self.llm.collective_rpc(method, args=arguments))
