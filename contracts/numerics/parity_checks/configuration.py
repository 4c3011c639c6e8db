"""NU-7xx: configurations under which the heads would not match are refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from contracts.numerics.parity_checks import origins
from contracts.numerics.sides import parity

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.numerics.protocols import Pair

TRAINER_KEY, ROLLOUT_KEY, FUSED_KEY = "fp32_lm_head", "NRL_VLLM_FP32_LM_HEAD", "use_fused_linear_logprobs"


@dataclass(frozen=True)
class Switches:
    """A policy configuration's switches.

    Attributes:
        trainer: ``megatron_cfg.fp32_lm_head``.
        rollout: ``NRL_VLLM_FP32_LM_HEAD`` in ``generation.vllm_cfg.env_vars``; empty for absent.
        backend: ``generation.backend``.
        fused: ``megatron_cfg.use_fused_linear_logprobs``.
    """

    trainer: bool | str = False
    rollout: str = ""
    backend: str = "vllm"
    fused: bool = False

    def config(self) -> dict[str, Any]:
        """The configuration, beside keys that other features own."""
        env = {ROLLOUT_KEY: self.rollout} if self.rollout else {}
        return {
            "model_name": "some/model",
            "megatron_cfg": {
                "enabled": True,
                TRAINER_KEY: self.trainer,
                FUSED_KEY: self.fused,
                "optimizer": {"lr": 1e-6},
            },
            "generation": {"backend": self.backend, "vllm_cfg": {"precision": "bfloat16", "env_vars": env}},
        }


def _refused(check: Check[Pair], pair: Pair, case: Switches, names: tuple[str, ...]) -> None:
    """Raise unless this configuration is refused by an error that names these keys."""
    try:
        pair.validate(case.config())
    except Exception as error:  # which class is the pair's own; that it names the keys is judged
        missing = [name for name in names if name not in str(error)]
        if missing:
            raise check.fail("the error does not name the keys", got=str(error), want=missing) from error
        return
    raise check.fail("the configuration was accepted", got=case, want=f"an error that names {' and '.join(names)}")


@parity.check(
    "NU-701",
    source=origins.CONFIG,
    requires={"config"},
    examples=(Switches(trainer=True), Switches(trainer="tf32"), Switches(trainer=True, rollout="0")),
)
def trainer_alone_is_refused(check: Check[Pair], pair: Pair, case: Switches) -> None:
    """A trainer in fp32 beside a vLLM in bf16 is refused, by an error that names both keys.

    Why: one side alone is worse than none, and both engines run without complaint.

    Usual cause: two switches in two files, of which one was forgotten.
    """
    _refused(check, pair, case, (TRAINER_KEY, ROLLOUT_KEY))


@parity.check("NU-702", source=origins.CONFIG, requires={"config"}, examples=(Switches(rollout="1"),))
def rollout_alone_is_refused(check: Check[Pair], pair: Pair, case: Switches) -> None:
    """A vLLM in fp32 beside a trainer in bf16 is refused, by an error that names both keys.

    Why: one side alone is worse than none, and both engines run without complaint.

    Usual cause: an environment variable inherited from another run.
    """
    _refused(check, pair, case, (TRAINER_KEY, ROLLOUT_KEY))


@parity.check(
    "NU-703", source=origins.CONFIG, requires={"config"}, examples=(Switches(trainer=True, rollout="1", fused=True),)
)
def fused_loss_is_refused(check: Check[Pair], pair: Pair, case: Switches) -> None:
    """An fp32 head with a fused linear cross entropy is refused, by an error that names both keys.

    Why: the fused kernel never calls the output layer, so the trainer stays in bf16 with its switch on.

    Usual cause: two features that do not know of each other.
    """
    _refused(check, pair, case, (TRAINER_KEY, FUSED_KEY))


@parity.check(
    "NU-704",
    source=origins.CONFIG,
    requires={"config"},
    examples=tuple(Switches(trainer=t, rollout="1") for t in ("TF32", "true", "fp32")),
)
def typos_are_refused(check: Check[Pair], pair: Pair, case: Switches) -> None:
    """A mode that does not exist is refused, by an error that names the key.

    Why: a truthy string switches something on, and not what was meant.

    Usual cause: `if config["fp32_lm_head"]`.
    """
    _refused(check, pair, case, (TRAINER_KEY,))


@parity.check(
    "NU-705",
    source=origins.CONFIG,
    requires={"config"},
    examples=(
        Switches(),
        Switches(trainer=True, rollout="1"),
        Switches(trainer="tf32", rollout="1"),
        Switches(rollout="0"),
        Switches(fused=True),
        Switches(trainer=True, backend="megatron"),
    ),
)
def sound_configurations_pass(check: Check[Pair], pair: Pair, case: Switches) -> None:
    """Both sides on, both off, and one side where vLLM does not generate are accepted.

    Why: a validation that refuses what works is switched off by its users.

    Usual cause: the pairwise rule applied to engines that it does not know.
    """
    try:
        pair.validate(case.config())
    except Exception as error:  # any refusal is the failure
        raise check.fail("a sound configuration was refused", got=str(error), want="accepted") from error


@parity.check(
    "NU-706",
    source=origins.CONFIG,
    requires={"config"},
    examples=tuple(Switches(trainer=True, rollout=value) for value in ("true", "yes", "2", " 1")),
)
def only_one_switches_the_rollout_on(check: Check[Pair], pair: Pair, case: Switches) -> None:
    """Beside a trainer in fp32, a variable that is set to anything but 1 is refused, by an error that names it.

    Why: the workers compare with "1", and every other way of saying yes leaves them in bf16.

    Usual cause: `if env_vars.get(...)`, which takes "true", and "0", for on.
    """
    _refused(check, pair, case, (ROLLOUT_KEY,))
