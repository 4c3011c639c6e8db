from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from impl.numerics.config import (
    ROLLOUT_KEY,
    TRAINER_KEY,
    HeadConfigError,
    MegatronConfig,
    PolicyConfig,
    read_policy_config,
    validate_fp32_lm_head_config,
)


def policy(
    *, trainer: bool | str | None = None, rollout: str | None = None, backend: str | None = "vllm", **megatron: Any
) -> Any:
    megatron = dict(megatron)
    if trainer is not None:
        megatron["fp32_lm_head"] = trainer
    env = {} if rollout is None else {"NRL_VLLM_FP32_LM_HEAD": rollout}
    return {
        "model_name": "m",
        "megatron_cfg": {"optimizer": {"lr": 1e-6}, **megatron},
        "generation": {"backend": backend, "vllm_cfg": {"precision": "bfloat16", "env_vars": env}},
    }


@pytest.mark.parametrize("mode", [True, "tf32"])
def test_both_sides_on_is_accepted(*, mode: bool | str) -> None:
    accepted = validate_fp32_lm_head_config(policy(trainer=mode, rollout="1"))
    assert accepted.trainer_mode == mode
    assert accepted.rollout_fp32


@pytest.mark.parametrize("rollout", [None, "0", ""])
@pytest.mark.parametrize("trainer", [None, False])
def test_both_sides_off_is_accepted(rollout: str | None, *, trainer: bool | str | None) -> None:
    accepted = validate_fp32_lm_head_config(policy(trainer=trainer, rollout=rollout))
    assert accepted.trainer_mode is False
    assert not accepted.rollout_fp32


def test_all_flags_default_to_off() -> None:
    assert MegatronConfig().fp32_lm_head is False
    assert MegatronConfig().fp32_residual_connection is False
    assert PolicyConfig().rollout_fp32 is False


@pytest.mark.parametrize(("trainer", "rollout"), [(True, None), (True, "0"), ("tf32", None), (False, "1"), (None, "1")])
def test_one_side_alone_is_refused_and_both_keys_are_named(rollout: str | None, *, trainer: bool | str | None) -> None:
    with pytest.raises(HeadConfigError) as refused:
        validate_fp32_lm_head_config(policy(trainer=trainer, rollout=rollout))
    message = str(refused.value)
    assert TRAINER_KEY in message
    assert ROLLOUT_KEY in message
    assert "Set " in message


def test_yaml_integer_one_switches_the_rollout_on() -> None:
    assert validate_fp32_lm_head_config(policy(trainer=True, rollout=1)).rollout_fp32


@pytest.mark.parametrize("value", ["true", "yes", True, "on", 2])
def test_other_values_of_the_variable_are_refused(value: Any) -> None:
    with pytest.raises(HeadConfigError, match="NRL_VLLM_FP32_LM_HEAD"):
        validate_fp32_lm_head_config(policy(trainer=True, rollout=value))


@pytest.mark.parametrize("typo", ["TF32", "true", "fp32", "tf-32", 1, None])
def test_a_typo_in_the_mode_is_refused(typo: Any) -> None:
    config = policy(rollout="1")
    config["megatron_cfg"]["fp32_lm_head"] = typo
    with pytest.raises(HeadConfigError, match=r'megatron_cfg\.fp32_lm_head is .*: set it to false, true or "tf32"'):
        validate_fp32_lm_head_config(config)


@pytest.mark.parametrize("place", ["policy", "megatron_cfg"])
@pytest.mark.parametrize("backend", ["vllm", "megatron"])
def test_the_fused_loss_is_refused_wherever_it_is_set(place: str, backend: str | None) -> None:
    config = policy(trainer=True, rollout="1", backend=backend)
    (config if place == "policy" else config["megatron_cfg"])["use_fused_linear_logprobs"] = True
    with pytest.raises(HeadConfigError) as refused:
        validate_fp32_lm_head_config(config)
    assert "use_fused_linear_logprobs" in str(refused.value)
    assert TRAINER_KEY in str(refused.value)


def test_the_fused_loss_alone_is_accepted() -> None:
    config = policy(trainer=False, rollout="0", use_fused_linear_logprobs=True)
    assert validate_fp32_lm_head_config(config).trainer_mode is False


@pytest.mark.parametrize("backend", ["megatron", "sglang", None])
def test_pairs_are_not_checked_where_vllm_does_not_generate(backend: str | None) -> None:
    assert validate_fp32_lm_head_config(policy(trainer=True, rollout=None, backend=backend)).trainer_mode is True
    assert validate_fp32_lm_head_config(policy(trainer=False, rollout="1", backend=backend)).rollout_fp32 is False


def test_no_generation_section_is_accepted() -> None:
    assert validate_fp32_lm_head_config({"megatron_cfg": {"fp32_lm_head": True}}).trainer_mode is True


def test_rollout_on_with_megatron_disabled_names_that_too() -> None:
    with pytest.raises(HeadConfigError, match=r"megatron_cfg\.enabled"):
        validate_fp32_lm_head_config(policy(trainer=True, rollout="1", enabled=False))


def test_a_typo_is_found_even_where_pairs_are_not_checked() -> None:
    with pytest.raises(HeadConfigError):
        validate_fp32_lm_head_config(policy(trainer="tf31", rollout=None, backend="megatron"))


def test_sections_that_are_empty_in_yaml_are_off() -> None:
    for generation in ({"backend": "vllm", "vllm_cfg": None}, {"backend": "vllm", "vllm_cfg": {"env_vars": None}}):
        assert validate_fp32_lm_head_config({"megatron_cfg": None, "generation": generation}).rollout_fp32 is False
        with pytest.raises(HeadConfigError, match="is off"):
            validate_fp32_lm_head_config({"megatron_cfg": {"fp32_lm_head": True}, "generation": generation})


def test_other_variables_are_not_read() -> None:
    config = policy(trainer=True, rollout="1")
    config["generation"]["vllm_cfg"]["env_vars"]["OTHER"] = ["any", "thing"]
    assert validate_fp32_lm_head_config(config).rollout_fp32


@pytest.mark.parametrize("config", [{"policy": {"megatron_cfg": {"fp32_lm_head": True}}}, [1], None])
def test_what_is_no_policy_configuration_is_not_found_consistent(config: Any) -> None:
    with pytest.raises(HeadConfigError, match="not a policy configuration"):
        validate_fp32_lm_head_config(config)


def test_a_section_of_another_type_says_what_it_must_be() -> None:
    with pytest.raises(HeadConfigError, match=r"env_vars is .*make it a section of keys and values"):
        validate_fp32_lm_head_config({"generation": {"backend": "vllm", "vllm_cfg": {"env_vars": ["A=1"]}}})


def test_every_unreadable_key_is_named_at_once() -> None:
    config = policy(trainer="tf31", rollout="1", fp32_residual_connection="yes")
    with pytest.raises(HeadConfigError) as refused:
        read_policy_config(config)
    assert "fp32_residual_connection" in str(refused.value)
    assert TRAINER_KEY in str(refused.value)


def test_a_configuration_is_validated_without_torch() -> None:
    code = "import sys, impl.numerics.config; sys.exit('torch' in sys.modules)"
    finished = subprocess.run([sys.executable, "-c", code], check=False)  # noqa: S603 - our own line of code
    assert finished.returncode == 0
