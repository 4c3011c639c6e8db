"""Real vLLM as the rollout engine and real Megatron-Core as the trainer, as zero-argument factories.

Both read one checkpoint. vLLM runs inside this process and keeps its engines in a pool, Megatron in a process of its
own. The small ones are for the contract; the larger ones have logits and bodies closer to a real model's, for the
table of `docs/fp32-head.md`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from impl.numerics.checkpoint import LlamaShape
from impl.numerics.engine_pool import EnginePool
from impl.numerics.megatron import llama as megatron_llama
from impl.numerics.megatron import nemotron_h as megatron_nemotron_h
from impl.numerics.megatron.adapter import MegatronAdapter
from impl.numerics.pairs import ReferencePair
from impl.numerics.vllm import body as vllm_body
from impl.numerics.vllm.adapter import VllmAdapter
from impl.numerics.vllm.switch import HeadStrategy

if TYPE_CHECKING:
    from collections.abc import Mapping

LARGER_LLAMA = LlamaShape(hidden=256, heads=8, ffn=512, vocab=4096)
WIDE_LLAMA = LlamaShape(layers=4, hidden=256, heads=8, ffn=512, vocab=4096, spread=6.1)
LARGER_NEMOTRON_H: Mapping[str, Any] = {
    **vllm_body.SMALL_NEMOTRON_H,
    "hidden_size": 256,
    "vocab_size": 4096,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "intermediate_size": 512,
}


def llama_pair(shape: LlamaShape, strategy: HeadStrategy = HeadStrategy.CACHED, **options: Any) -> ReferencePair:
    """Both engines on Llamas of a shape; ``options`` are vLLM's own."""
    rollout = VllmAdapter(strategy, vllm_body.LlamaBody(shape), **options)
    return ReferencePair(MegatronAdapter(body=megatron_llama.LlamaBody(shape)), EnginePool(rollout))


def nemotron_h_pair(config: Mapping[str, Any], strategy: HeadStrategy = HeadStrategy.CACHED) -> ReferencePair:
    """Both engines on NemotronHs of a configuration."""
    rollout = VllmAdapter(strategy, vllm_body.NemotronHBody(dict(config)))
    return ReferencePair(MegatronAdapter(body=megatron_nemotron_h.NemotronHBody(config)), EnginePool(rollout))


def vllm_megatron_llama() -> ReferencePair:
    """A small Llama of two layers."""
    return llama_pair(vllm_body.SMALL_LLAMA)


def vllm_megatron_nemotron_h() -> ReferencePair:
    """A small NemotronH of two Mamba layers, one of attention and an MLP."""
    return nemotron_h_pair(vllm_body.SMALL_NEMOTRON_H)


def vllm_megatron_llama_tp2() -> ReferencePair:
    """The small Llama on two tensor-parallel ranks on each side, vLLM's with the head that is upcast at each call."""
    rollout = VllmAdapter(HeadStrategy.PER_CALL, vllm_body.LlamaBody(), tensor_parallel_size=2)
    trainer = MegatronAdapter(2, body=megatron_llama.LlamaBody(vllm_body.SMALL_LLAMA))
    return ReferencePair(trainer, EnginePool(rollout))


def larger_llama() -> ReferencePair:
    """A Llama of two layers, 256 channels and 4096 tokens."""
    return llama_pair(LARGER_LLAMA)


def wide_llama() -> ReferencePair:
    """The same with four layers and logits that spread over 6.1: the sampled ones pass 32, where the step is 0.25."""
    return llama_pair(WIDE_LLAMA)


def larger_nemotron_h() -> ReferencePair:
    """A NemotronH of 256 channels and 4096 tokens."""
    return nemotron_h_pair(LARGER_NEMOTRON_H)


def rollout_llama() -> EnginePool:
    """The rollout side of `vllm_megatron_llama` alone, for ``contracts numerics compare``."""
    return EnginePool(VllmAdapter(HeadStrategy.CACHED, vllm_body.LlamaBody()))


def train_llama() -> MegatronAdapter:
    """Its trainer's side alone."""
    return MegatronAdapter(body=megatron_llama.LlamaBody(vllm_body.SMALL_LLAMA))


def rollout_nemotron_h() -> EnginePool:
    """The rollout side of `vllm_megatron_nemotron_h` alone."""
    return EnginePool(VllmAdapter(HeadStrategy.CACHED, vllm_body.NemotronHBody()))


def train_nemotron_h() -> MegatronAdapter:
    """Its trainer's side alone."""
    return MegatronAdapter(body=megatron_nemotron_h.NemotronHBody(vllm_body.SMALL_NEMOTRON_H))
