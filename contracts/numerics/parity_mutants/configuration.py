"""Validations that let too much through, or too little."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from contracts.mutant import Wrapper
from contracts.numerics.parity_checks.configuration import FUSED_KEY, ROLLOUT_KEY, TRAINER_KEY
from contracts.numerics.sides import parity

if TYPE_CHECKING:
    from collections.abc import Mapping


class _Repairs(Wrapper):
    """Repairs a configuration instead of refusing it."""

    def repair(self, config: dict[str, Any]) -> None:
        """Change what would be refused."""

    def validate(self, config: Mapping[str, Any]) -> None:
        repaired = copy.deepcopy(dict(config))
        self.repair(repaired)
        self.inner.validate(repaired)


@parity.mutant("NU-M701a", killed_by="NU-701")
class TrainerAlonePasses(_Repairs):
    """accepts a trainer in fp32 beside vLLM in bf16"""

    def repair(self, config: dict[str, Any]) -> None:
        if config["megatron_cfg"][TRAINER_KEY]:
            config["generation"]["vllm_cfg"]["env_vars"][ROLLOUT_KEY] = "1"


@parity.mutant("NU-M701b", killed_by="NU-701")
class NamesOneKey(Wrapper):
    """refuses a one-sided configuration and names one key only"""

    def validate(self, config: Mapping[str, Any]) -> None:
        try:
            self.inner.validate(config)
        except Exception as error:
            raise ValueError(f"{TRAINER_KEY} is inconsistent") from error


@parity.mutant("NU-M702a", killed_by="NU-702")
class RolloutAlonePasses(_Repairs):
    """accepts vLLM in fp32 beside a trainer in bf16"""

    def repair(self, config: dict[str, Any]) -> None:
        if not config["megatron_cfg"][TRAINER_KEY]:
            config["generation"]["vllm_cfg"]["env_vars"].pop(ROLLOUT_KEY, None)


@parity.mutant("NU-M703a", killed_by="NU-703")
class FusedPasses(_Repairs):
    """does not look at the fused loss"""

    def repair(self, config: dict[str, Any]) -> None:
        config["megatron_cfg"][FUSED_KEY] = False


@parity.mutant("NU-M704a", killed_by="NU-704")
class TruthyIsOn(_Repairs):
    """takes every truthy mode for true"""

    def repair(self, config: dict[str, Any]) -> None:
        config["megatron_cfg"][TRAINER_KEY] = bool(config["megatron_cfg"][TRAINER_KEY])


@parity.mutant("NU-M705a", killed_by="NU-705")
class RefusesEverything(Wrapper):
    """refuses every configuration"""

    def validate(self, config: Mapping[str, Any]) -> None:
        raise ValueError(f"{TRAINER_KEY} and {ROLLOUT_KEY} are never consistent in {sorted(config)}")


@parity.mutant("NU-M706a", killed_by="NU-706")
class AnythingIsOn(_Repairs):
    """takes every value of the rollout's variable for on"""

    def repair(self, config: dict[str, Any]) -> None:
        variables = config["generation"]["vllm_cfg"]["env_vars"]
        if variables.get(ROLLOUT_KEY, "0") not in {"0", ""}:
            variables[ROLLOUT_KEY] = "1"
