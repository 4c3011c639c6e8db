"""TRL's ``GRPOConfig.cast_lm_head_to_fp32`` as a trainer's head: a real `GRPOTrainer` around a small Llama or Granite.

TRL casts the head while a `GRPOTrainer` is built, so each engine is one. Logits are those of the model's own forward,
logprobs and gradients those of TRL's fused head, which is what it trains with.
"""

from __future__ import annotations

import tempfile
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from datasets import Dataset
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from transformers import GraniteConfig, GraniteForCausalLM, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer

from impl.numerics.answers import Gradients, Prefill, gradients_of
from impl.numerics.checkpoint import HeadShape, LlamaShape, make_checkpoint
from impl.numerics.matmul_precision import matmul_flags
from impl.numerics.torch_adapter import on_one_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from contracts.numerics.protocols import HeadMode

IGNORED = -100
"""The label of a token that is not scored."""


class TrlEngine:
    """A policy that a `GRPOTrainer` holds."""

    def __init__(self, shape: LlamaShape, head: HeadShape, *, cast: bool | None) -> None:
        """Build model and trainer.

        Args:
            shape: the model's dimensions.
            head: a plain, tied or scaled head.
            cast: ``cast_lm_head_to_fp32``; None leaves TRL's default.
        """
        torch.manual_seed(0)
        self.shape, self.tied = shape, head.tied
        flags = {} if cast is None else {"cast_lm_head_to_fp32": cast}
        with tempfile.TemporaryDirectory() as folder:
            arguments = GRPOConfig(output_dir=folder, use_cpu=True, bf16=False, report_to="none", **flags)
            trainer = GRPOTrainer(
                model=_model(shape, head),
                reward_funcs=_no_reward,
                args=arguments,
                train_dataset=Dataset.from_dict({"prompt": ["t0"]}),
                processing_class=_tokenizer(shape.vocab),
            )
        self.model: Any = trainer.model.eval()
        self._inputs: list[torch.Tensor] = []
        self.model.model.register_forward_hook(lambda _module, _args, output: self._inputs.append(output[0]))

    def parameters(self) -> dict[str, str]:
        """Names and dtypes of the parameters."""
        return {name: _dtype(parameter) for name, parameter in self.model.named_parameters()}

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """The state dict, without the second name of a tied head."""
        names = dict(self.model.named_parameters())
        return {name: t.float().numpy().copy() for name, t in self.model.state_dict().items() if name in names}

    def matmul_flags(self) -> dict[str, str]:
        """Torch's process-wide precision settings."""
        return matmul_flags()

    @torch.no_grad()
    def prefill(self, tokens: Sequence[int]) -> Prefill:
        """One forward for the logits, one through the fused head for the logprobs."""
        batch = torch.tensor([list(tokens)])
        logits = self.model(input_ids=batch).logits[0]
        hidden = self._inputs.pop()[0]
        return Prefill(hidden.float().numpy(), logits.float().numpy(), _dtype(logits), self.score([tokens])[0])

    @torch.no_grad()
    def score(self, sequences: Sequence[Sequence[int]]) -> list[NDArray[np.float64]]:
        """Log probabilities of ``tokens[1:]`` of each sequence, one batch padded on the right, by the fused head."""
        longest = max(map(len, sequences))
        padding = [[0] * (longest - len(tokens)) for tokens in sequences]
        batch = torch.tensor([[*tokens, *pad] for tokens, pad in zip(sequences, padding, strict=True)])
        mask = torch.tensor([[1] * len(tokens) + pad for tokens, pad in zip(sequences, padding, strict=True)])
        found = self._fused(batch, mask).log_probs.double().numpy()
        return [row[: len(tokens) - 1] for row, tokens in zip(found, sequences, strict=True)]

    def gradients(self, tokens: Sequence[int]) -> Gradients:
        """One backward of the fused head's own loss."""
        self.model.zero_grad(set_to_none=True)
        batch = torch.tensor([list(tokens)])
        self._fused(batch, torch.ones_like(batch), keep=True).loss.backward()
        hidden = self._inputs.pop()[0, :-1].detach()
        found = {name: p.grad for name, p in self.model.named_parameters() if p.grad is not None}
        self.model.zero_grad(set_to_none=True)
        return gradients_of(hidden, found)

    def refit(
        self,
        weights: Mapping[str, NDArray[np.float32]],
        *,
        transport: str,
        order: Sequence[str] = (),
        between: Callable[[], None] | None = None,
    ) -> None:
        """Load a whole state dict, as resuming from a checkpoint does."""
        del order, between
        if transport != "direct":
            raise ValueError(f"a trainer has no transport {transport!r}: its weights come by load_state_dict")
        state = {name: torch.from_numpy(np.asarray(array)) for name, array in weights.items()}
        if self.tied:
            state["lm_head.weight"] = state["model.embed_tokens.weight"]
        self.model.load_state_dict(state)

    def head_storage(self) -> int | None:
        """There is no copy: the parameter itself was cast."""
        return None

    def close(self) -> None:
        """Nothing outlives the object."""

    def _fused(self, batch: torch.Tensor, mask: torch.Tensor, *, keep: bool = False) -> Any:
        labels = batch.masked_fill(mask == 0, IGNORED)
        found = self.model(input_ids=batch, attention_mask=mask, labels=labels, fused_lm_head=True)
        if not keep:
            self._inputs.clear()
        return found


class TrlAdapter:
    """Starts GRPO trainers.

    Attributes:
        name: TRL and what of it is held.
        version: of TRL and of the transformers under it.
        shape: the models' dimensions.
    """

    name = "trl cast_lm_head_to_fp32"
    version = f"{version('trl')} (transformers {version('transformers')})"
    capabilities = frozenset({"training", "refit", "direct", "tied", "logit_scale"})

    def __init__(self) -> None:
        on_one_thread()
        self.shape = LlamaShape()

    @property
    def vocab(self) -> int:
        """Tokens of the vocabulary."""
        return self.shape.vocab

    def checkpoint(self, seed: int, head: Any = None) -> dict[str, NDArray[np.float32]]:
        """The reference's checkpoints, which both engines of a pair must read."""
        state = make_checkpoint(self.shape, head or HeadShape(), seed)
        return {name: tensor.float().numpy() for name, tensor in state.items()}

    def start(
        self, weights: Mapping[str, NDArray[np.float32]] | None, *, mode: HeadMode, head: Any = None
    ) -> TrlEngine:
        """Build a trainer; ``untouched`` leaves TRL's default.

        Raises:
            ValueError: a mode or a head that TRL, or these two models, do not have.
        """
        casts: dict[str, bool | None] = {"untouched": None, "off": False, "fp32": True}
        head = head or HeadShape()
        if mode not in casts:
            raise ValueError(f"TRL has no mode {mode!r}; there are {', '.join(casts)}")
        if head.bias or head.softcap or head.vocab_padding or head.drafter or head.kind != "plain":
            raise ValueError(f"neither Llama nor Granite has a head like {head}")
        engine = TrlEngine(self.shape, head, cast=casts[mode])
        if weights is not None:
            engine.refit(weights, transport="direct")
        return engine


def _model(shape: LlamaShape, head: HeadShape) -> Any:
    """A Llama in bf16, or a Granite, which is a Llama with factors, where the logits have one."""
    common = {
        "vocab_size": shape.vocab,
        "hidden_size": shape.hidden,
        "intermediate_size": shape.ffn,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.heads,
        "rms_norm_eps": shape.eps,
        "rope_theta": shape.rope_theta,
        "tie_word_embeddings": head.tied,
        "max_position_embeddings": 512,
    }
    if head.logit_scale == 1.0:
        return LlamaForCausalLM(LlamaConfig(**common)).bfloat16()
    factors = {"logits_scaling": 1.0 / head.logit_scale, "attention_multiplier": shape.head_dim**-0.5}
    return GraniteForCausalLM(GraniteConfig(**common, **factors)).bfloat16()


def _tokenizer(vocab: int) -> PreTrainedTokenizerFast:
    words = {f"t{number}": number for number in range(vocab)}
    special = {"pad_token": "t0", "eos_token": "t1", "unk_token": "t0"}
    return PreTrainedTokenizerFast(tokenizer_object=Tokenizer(WordLevel(words, special["unk_token"])), **special)


def _no_reward(completions: list[Any], **_: Any) -> list[float]:
    return [0.0] * len(completions)


def _dtype(tensor: torch.Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")
