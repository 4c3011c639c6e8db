"""Where this room's rules come from."""

from contracts.source import Source

PULL_REQUEST = "NVIDIA-NeMo/RL#3936"

ROUNDING = Source(
    PULL_REQUEST,
    "logits are 15-30 in magnitude, where the bf16 step is 0.125-0.25: rounding the head's output perturbs each "
    "logprob by 0.02-0.03",
)
INERT = Source(PULL_REQUEST, "all flags default to off, and off changes nothing")
TF32 = Source(
    PULL_REQUEST, "the head's fp32 product may run in TF32, which is exact for bf16 inputs; for that product only"
)
GRADIENTS = Source(PULL_REQUEST, "input and weight are upcast inside the autograd graph, so gradients reach the weight")
STATE = Source(PULL_REQUEST, "the head's parameters, dtypes and state dict stay as they are")
STALE = Source(
    PULL_REQUEST,
    "engines start on dummy weights and get trained ones by refit: a copy of the head made before holds old weights",
)
MAPPING = Source(PULL_REQUEST, "the refit's weight mapping is built from named_parameters()")
GRAPHS = Source(PULL_REQUEST, "a captured CUDA graph keeps reading the storage that it was captured with")
LOUD = Source(
    PULL_REQUEST,
    "a run on a vision-language model sampled from a random head because a missing lm_head was only logged",
)
DRAFTERS = Source(PULL_REQUEST, "a drafter is a separate module with its own head and its own weight stream")
PREFIXES = Source("vLLM 0.32 prefix caching", "cached blocks are keyed by token ids, not by weights")
SLEEPING = Source("vLLM 0.32 sleep mode", "a sleeping engine's weights are discarded, and come back by a reload")
QUANTIZED = Source("vLLM 0.32 head_dtype", "a quantized head is refused, but only at the first forward")
SHAPES = Source("vLLM 0.32 LogitsProcessor", "bias, scale, soft cap and the cut of padding rows are part of the logits")
TIED = Source("vLLM 0.32 load_weights", "a tied checkpoint streamed in batches may send either name first")
DECLARED = Source("contracts.numerics.sides", "what a capability means where it is not declared")
