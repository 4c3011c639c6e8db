"""Configuration of the fp32 LM head: every default in one place, and the pairwise validation.

The keys are those of a NeMo-RL policy configuration: ``megatron_cfg.fp32_lm_head`` and
``megatron_cfg.fp32_residual_connection`` for the trainer, the environment variable
``NRL_VLLM_FP32_LM_HEAD`` in ``generation.vllm_cfg.env_vars`` for the rollout workers. All three are off
by default, and off means that nothing at all changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

VLLM_FP32_LM_HEAD = "NRL_VLLM_FP32_LM_HEAD"
TRAINER_KEY = "megatron_cfg.fp32_lm_head"
ROLLOUT_KEY = f"generation.vllm_cfg.env_vars.{VLLM_FP32_LM_HEAD}"
FUSED_KEY = "use_fused_linear_logprobs"

Fp32HeadMode = bool | Literal["tf32"]
"""``False``: the model's own head; ``True``: fp32 GEMM; ``"tf32"``: fp32 GEMM on TF32 tensor cores."""


class HeadConfigError(ValueError):
    """A configuration under which the two engines' heads would not match, or that cannot be read."""


class _Section(BaseModel):
    """One section of a larger configuration: keys that other features own pass through unread."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)


class MegatronConfig(_Section):
    """The trainer's part of the policy configuration.

    Attributes:
        enabled: whether Megatron-Core is the trainer at all.
        fp32_lm_head: precision of the head's GEMM, see `Fp32HeadMode`.
        fp32_residual_connection: passed through to the model's ``TransformerConfig``.
        use_fused_linear_logprobs: linear and cross entropy as one kernel, which bypasses the output layer.
    """

    enabled: bool = True
    fp32_lm_head: Fp32HeadMode = False
    fp32_residual_connection: bool = False
    use_fused_linear_logprobs: bool = False


class VllmConfig(_Section):
    """The rollout engine's part: the environment its worker processes start with."""

    env_vars: dict[str, Any] | None = None


class GenerationConfig(_Section):
    """Which engine generates; only ``backend: vllm`` has an fp32 head to agree with."""

    backend: str | None = None
    vllm_cfg: VllmConfig | None = None


class PolicyConfig(_Section):
    """The slice of a policy configuration that decides the head's precision on both sides."""

    megatron_cfg: MegatronConfig | None = None
    generation: GenerationConfig | None = None
    use_fused_linear_logprobs: bool = False

    @property
    def trainer_mode(self) -> Fp32HeadMode:
        """The mode the trainer will run: off where Megatron-Core is not the trainer."""
        if self.megatron_cfg is None or not self.megatron_cfg.enabled:
            return False
        return self.megatron_cfg.fp32_lm_head

    @property
    def rollout_is_vllm(self) -> bool:
        """Whether vLLM generates."""
        return self.generation is not None and self.generation.backend == "vllm"

    @property
    def rollout_fp32(self) -> bool:
        """Whether vLLM's workers will run an fp32 head.

        Raises:
            HeadConfigError: the variable is set to something that is neither on nor off.
        """
        if not self.rollout_is_vllm or self.generation is None or self.generation.vllm_cfg is None:
            return False
        value = (self.generation.vllm_cfg.env_vars or {}).get(VLLM_FP32_LM_HEAD)
        if value is None:
            return False
        # YAML turns a bare 1 into an integer, and the worker's environment turns it back into "1".
        text = str(value) if not isinstance(value, bool) else repr(value)
        if text not in {"0", "1", ""}:
            raise HeadConfigError(
                f'{ROLLOUT_KEY} is {value!r}: the worker only understands "1" (on) and "0" (off); '
                f'set it to "1" or remove it'
            )
        return text == "1"


def read_policy_config(config: object) -> PolicyConfig:
    """Read the head's slice of a policy configuration.

    Args:
        config: the policy configuration as a mapping (as YAML gives it), or one already read.

    Raises:
        HeadConfigError: a value is not one of those allowed; names every such key. Or this is no policy
            configuration: one that holds it would be found consistent, for want of anything to look at.
    """
    if isinstance(config, PolicyConfig):
        return config
    if not isinstance(config, Mapping) or "policy" in config:
        what = f"a {type(config).__name__}" if not isinstance(config, Mapping) else "what holds one under 'policy'"
        raise HeadConfigError(f"this is {what}, not a policy configuration: pass the mapping with megatron_cfg in it")
    try:
        return PolicyConfig.model_validate(dict(config))
    except ValidationError as error:
        raise HeadConfigError("; ".join(sorted({_explain(item) for item in error.errors()}))) from error


def validate_fp32_lm_head_config(config: Mapping[str, Any] | PolicyConfig) -> PolicyConfig:
    """Refuse a configuration that puts one engine's head in fp32 and leaves the other's in bf16.

    Both engines round their logits to the same bf16 grid, so lifting one of them off it makes the
    probability error between them larger than leaving both alone.

    Args:
        config: the whole policy configuration; see `PolicyConfig` for the keys that are read.

    Returns:
        The validated slice.

    Raises:
        HeadConfigError: one-sided, combined with a fused linear cross entropy, or an unreadable value.
    """
    policy = read_policy_config(config)
    mode, rollout = policy.trainer_mode, policy.rollout_fp32
    if mode is not False:
        _refuse_fused_loss(policy)
    if not policy.rollout_is_vllm:
        return policy
    if mode is not False and not rollout:
        raise HeadConfigError(
            f"{TRAINER_KEY} is {mode!r} but {ROLLOUT_KEY} is off: the trainer's head would run in fp32 and "
            f'vLLM\'s in bf16, which is worse than both in bf16. Set {ROLLOUT_KEY} to "1", or '
            f"{TRAINER_KEY} to false"
        )
    if rollout and mode is False:
        disabled = policy.megatron_cfg is not None and not policy.megatron_cfg.enabled
        also = " and megatron_cfg.enabled to true (it is false, so no fp32 head exists)" if disabled else ""
        raise HeadConfigError(
            f'{ROLLOUT_KEY} is "1" but {TRAINER_KEY} is off: vLLM\'s head would run in fp32 and the '
            f"trainer's in bf16, which is worse than both in bf16. Set {TRAINER_KEY} to true or "
            f'"tf32"{also}, or remove {ROLLOUT_KEY}'
        )
    return policy


def _refuse_fused_loss(policy: PolicyConfig) -> None:
    """Refuse the fused loss at whichever of its two places it is switched on."""
    places = []
    if policy.use_fused_linear_logprobs:
        places.append(FUSED_KEY)
    if policy.megatron_cfg is not None and policy.megatron_cfg.use_fused_linear_logprobs:
        places.append(f"megatron_cfg.{FUSED_KEY}")
    if places:
        raise HeadConfigError(
            f"{TRAINER_KEY} is {policy.trainer_mode!r} and {places[0]} is true: the fused kernel computes "
            f"logprobs without calling the output layer, so the trainer would stay in bf16. Set "
            f"{places[0]} to false, or {TRAINER_KEY} to false"
        )


def _explain(item: Mapping[str, Any]) -> str:
    """One pydantic finding as: key, value, what to set."""
    # The union's branch names stand at the end of the location and mean nothing to the reader.
    key = ".".join(str(part) for part in item["loc"] if part not in {"bool", "literal['tf32']"})
    if key == TRAINER_KEY:
        return f'{key} is {item["input"]!r}: set it to false, true or "tf32"'
    if item["type"] in {"model_type", "dict_type"}:
        return f"{key} is {item['input']!r}: make it a section of keys and values, or remove it"
    return f"{key} is {item['input']!r}: {item['msg']}"
