"""A Megatron-Core model on CPU, inside one worker process of a tensor-parallel group.

Imported only there: it starts gloo, sets Megatron's process-wide state and answers for CUDA's current
device, which Megatron asks for even where every tensor is on the CPU.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from megatron.core import parallel_state, tensor_parallel
from megatron.core.transformer.transformer_config import TransformerConfig
from torch.nn import functional

from impl.numerics.matmul_precision import matmul_flags
from impl.numerics.megatron.head import apply_lm_head_mode, pass_numerics_to_model_config

if TYPE_CHECKING:
    from collections.abc import Sequence

    from impl.numerics.checkpoint import HeadShape, State
    from impl.numerics.config import MegatronConfig
    from impl.numerics.megatron.body import Body


def start_group(rank: int, size: int, rendezvous: str) -> None:
    """Join the group of ``size`` processes that meet at the file ``rendezvous``."""
    torch.set_num_threads(1)
    torch.cuda.current_device = lambda: torch.device("cpu")  # type: ignore[assignment,return-value]  # see above
    torch.distributed.init_process_group("gloo", init_method=f"file://{rendezvous}", rank=rank, world_size=size)
    parallel_state.initialize_model_parallel(tensor_model_parallel_size=size)
    tensor_parallel.random.initialize_rng_tracker(inference_rng_tracker=True)


class MegatronModel:
    """This rank's part of one model. Every method runs on all ranks at the same time."""

    def __init__(self, body: Body, head: HeadShape, megatron_cfg: MegatronConfig | None, dtype: str) -> None:
        """Build the model; ``megatron_cfg`` None leaves the head as Megatron made it, with no call of ours."""
        torch.manual_seed(0)
        self.body, self.size = body, parallel_state.get_tensor_model_parallel_world_size()
        multiple = body.padding * self.size
        self.rows = -(-(body.vocab + 1) // multiple) * multiple if head.vocab_padding else body.vocab
        params = getattr(torch, dtype)
        config = TransformerConfig(
            **body.options(),
            tensor_model_parallel_size=self.size,
            use_cpu_initialization=True,
            params_dtype=params,
            bf16=params is torch.bfloat16,
            normalization="RMSNorm",
            add_bias_linear=False,
            attention_dropout=0.0,
            hidden_dropout=0.0,
            bias_activation_fusion=False,
            bias_dropout_fusion=False,
            masked_softmax_fusion=False,
            apply_rope_fusion=False,
            persist_layer_norm=False,
            gradient_accumulation_fusion=False,
        )
        if megatron_cfg is not None:
            pass_numerics_to_model_config(config, megatron_cfg)
        self.model = body.build(config, self.rows, tied=head.tied).to(params)
        _break(self.model, head.kind)
        if megatron_cfg is not None:
            apply_lm_head_mode([self.model], megatron_cfg.fp32_lm_head)
        self._hidden: torch.Tensor | None = None
        if head.kind == "plain":
            self.model.output_layer.register_forward_pre_hook(self._remember)

    def parameters(self) -> dict[str, str]:
        """Names and dtypes of the parameters."""
        return {name: str(p.dtype).removeprefix("torch.") for name, p in self.model.named_parameters()}

    def state(self) -> State:
        """This rank's tensors, under Megatron's names."""
        return {name: tensor.clone() for name, tensor in self.model.state_dict().items() if tensor is not None}

    def load(self, rank: int, state: State) -> None:
        """Take new weights, all or a part, given under Hugging Face names for all ranks.

        Raises:
            KeyError: an unknown name, or a part of what Megatron keeps in one matrix.
            ValueError: a wrong size. Nothing is written in either case.
        """
        converted = self.body.to_megatron(state, rows=self.rows, size=self.size)[rank]
        own = dict(self.model.named_parameters())
        if self.model.share_embeddings_and_output_weights:
            converted.pop("output_layer.weight", None)
        for name, tensor in converted.items():
            if own[name].shape != tensor.shape:
                raise ValueError(f"{name} is {tuple(own[name].shape)} here, {tuple(tensor.shape)} in the update")
        for name, tensor in converted.items():
            own[name].data.copy_(tensor)

    def prefill(self, tokens: Sequence[int]) -> tuple[torch.Tensor, torch.Tensor]:
        """Hidden states ``[tokens, hidden]`` and logits ``[tokens, vocab]`` of one sequence."""
        with torch.no_grad():
            logits = self._logits(torch.tensor([list(tokens)]))[0]
        return self._head_input(), logits

    def score(self, batch: torch.Tensor) -> torch.Tensor:
        """Log probabilities of the next tokens, ``[batch, tokens - 1]``."""
        with torch.no_grad():
            logprobs = functional.log_softmax(self._logits(batch[:, :-1]).float(), dim=-1)
        return logprobs.gather(-1, batch[:, 1:, None]).squeeze(-1)

    def gradients(self, tokens: Sequence[int]) -> tuple[torch.Tensor, State]:
        """Run one backward of the mean negative log probability of ``tokens[1:]``.

        Returns:
            The head's input ``[tokens - 1, hidden]``, and this rank's gradients.
        """
        batch = torch.tensor([list(tokens)])
        self.model.zero_grad(set_to_none=True)
        loss = functional.cross_entropy(self._logits(batch[:, :-1])[0].float(), batch[0, 1:])
        loss.backward()  # type: ignore[no-untyped-call]  # torch's own
        found = {name: p.grad.clone() for name, p in self.model.named_parameters() if p.grad is not None}
        self.model.zero_grad(set_to_none=True)
        return self._head_input(), found

    def flags(self) -> dict[str, str]:
        """This process's precision settings."""
        return matmul_flags()

    def _logits(self, batch: torch.Tensor) -> torch.Tensor:
        """``[batch, tokens, vocab]`` of the real vocabulary, gathered from the ranks."""
        if batch.min() < 0 or batch.max() >= self.body.vocab:
            raise ValueError(f"token ids must be in [0, {self.body.vocab})")
        length = batch.shape[1]
        positions = torch.arange(length).expand_as(batch)
        hidden_from = torch.ones(length, length, dtype=torch.bool).triu(1)[None, None]
        logits: torch.Tensor = self.model(batch, positions, hidden_from, runtime_gather_output=True)
        return logits[..., : self.body.vocab]

    def _head_input(self) -> torch.Tensor:
        """What the output layer was last called with, ``[tokens, hidden]`` of the first sequence."""
        if self._hidden is None:
            raise RuntimeError("the output layer was not called")
        return self._hidden[:, 0]

    def _remember(self, _layer: Any, inputs: tuple[torch.Tensor, ...]) -> None:
        self._hidden = inputs[0].detach()


def _break(model: Any, kind: str) -> None:
    """Seed the fault that starting must refuse."""
    if kind == "missing":
        del model.output_layer
    elif kind == "quantized":
        weight = model.output_layer.weight
        model.output_layer.weight = torch.nn.Parameter(weight.to(torch.int8), requires_grad=False)
