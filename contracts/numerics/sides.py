"""The two contracts of this room."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contracts.contract import Contract

if TYPE_CHECKING:
    from contracts.numerics.protocols import EngineAdapter, Pair

#: What one engine may declare.
HEAD_CAPABILITIES = {
    "generate": "The engine samples. Not declared: it only scores, as a trainer does.",
    "refit": "A running engine takes new weights. Not declared: it is started anew.",
    "direct": "A refit hands all weights over at once. Not declared: this transport is not offered.",
    "collective": "A refit sends weight by weight, in any order. Not declared: this transport is not offered.",
    "checkpoint": "A refit reads a file, outside the update lifecycle. Not declared: it is not offered.",
    "delta": "A refit writes only what changed into storage. Not declared: it is not offered.",
    "partial_refit": "A refit may carry only some weights. Not declared: it always carries all.",
    "cached_head": "The fp32 head is a copy, and `head_storage()` is its address. Not declared: there is no copy.",
    "prefix_cache": "Sampling reuses keys and values of equal prompts. Not declared: nothing is reused.",
    "sleep": "The engine gives its weights' memory away and takes it again. Not declared: no such methods.",
    "drafter": "A drafter with its own head can run beside the policy. Not declared: there is none.",
    "training": "Gradients can be computed. Not declared: the engine is for inference.",
    "tf32": "The head can run in TF32. Not declared: the mode does not exist.",
    "tied": "Head and embedding can share their weight. Not declared: such models are not served.",
    "bias": "The head can have a bias. Not declared: such models are not served.",
    "softcap": "Logits can be soft-capped. Not declared: such models are not served.",
    "logit_scale": "Logits can be scaled. Not declared: such models are not served.",
    "vocab_padding": "The head can have more rows than the vocabulary. Not declared: it never has.",
    "faults": "The adapter can be asked for a model without head and one with a quantized head, to see both refused.",
}

#: What a pair may declare.
PARITY_CAPABILITIES = {
    "engines": "`train` and `rollout` start engines. Not declared: only metrics or a configuration are held.",
    "refit": "Both engines take new weights by the direct transport. Not declared: they are started anew.",
    "metrics": "The trainer's mismatch metrics can be called. Not declared: they are not looked at.",
    "global_count": "Means of a part are taken over the batch's tokens. Not declared: only whole batches are averaged.",
    "sequence_mask": "Sequences are dropped by their token_mult_prob_error. Not declared: by another rule, or never.",
    "config": "The configuration's validation can be called. Not declared: it is not looked at.",
}

head: Contract[EngineAdapter] = Contract(
    "numerics.head",
    version="1.0",
    summary="One engine with an fp32 LM head, under refit, against an fp64 oracle and freshly started engines",
    reference="impl.numerics.adapter:head",
    capabilities=HEAD_CAPABILITIES,
)

parity: Contract[Pair] = Contract(
    "numerics.parity",
    version="1.0",
    summary="A trainer and a rollout engine on the same weights and tokens, their metrics and configuration",
    reference="impl.numerics.adapter:parity",
    capabilities=PARITY_CAPABILITIES,
)
