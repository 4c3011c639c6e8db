"""Where the rules of a pair come from."""

from contracts.source import Source

PULL_REQUEST = "NVIDIA-NeMo/RL#3936"

BOTH = Source(PULL_REQUEST, "token_mult_prob_error 1.03522 with both heads in bf16, 1.01543 with both in fp32")
ONE_SIDE = Source(PULL_REQUEST, "both engines round to the same grid, so fixing only one side makes the error worse")
OUTLIERS = Source("NVIDIA-NeMo/RL#2100", "15-20 % of the sequences were off while the mean looked fine")
DRIFT = Source(
    "huggingface/trl tests/invariant", "the mean signed difference is compared too: one-sided drift is the bug"
)
SAMPLED = Source(PULL_REQUEST, "the logprobs compared in training are those of the sampled tokens as they were sampled")
REFITTED = Source(PULL_REQUEST, "the refit is load-bearing per step, not just at startup")
BATCHES = Source(
    "vllm-project/vllm#53620", "comparisons by batch position break on ties and padding; tokens are compared by id"
)
METRICS = Source(
    "NVIDIA-NeMo/RL nemo_rl/algorithms/loss_functions.py",
    "the definitions of the mismatch metrics, averaged over global valid tokens",
)
CONFIG = Source(
    PULL_REQUEST, "one side in fp32 without the other is rejected, both ways, and so is the fused linear loss"
)
DECLARED = Source("contracts.numerics.sides", "what a capability means where it is not declared")
