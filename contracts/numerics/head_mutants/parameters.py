"""Defects of the head's bookkeeping."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from contracts.numerics.defects import EngineDefect, seeded
from contracts.numerics.protocols import HEAD
from contracts.numerics.sides import head

if TYPE_CHECKING:
    from contracts.numerics.protocols import F32

COPY = "lm_head_fp32"


class Registered(EngineDefect):
    """The copy is a parameter of the model."""

    def parameters(self) -> dict[str, str]:
        return {**self.inner.parameters(), COPY: "float32"}


class CastInPlace(EngineDefect):
    """The head's weight itself is fp32."""

    def parameters(self) -> dict[str, str]:
        return {**self.inner.parameters(), HEAD: "float32"}


class RegisteredAtRefit(EngineDefect):
    """The copy becomes a parameter when it is first refreshed."""

    refitted = False

    def refit(self, *arguments: Any, **options: Any) -> None:
        self.inner.refit(*arguments, **options)
        self.refitted = True

    def parameters(self) -> dict[str, str]:
        return {**self.inner.parameters(), COPY: "float32"} if self.refitted else dict(self.inner.parameters())


class Saved(EngineDefect):
    """The copy is a buffer of the model."""

    def weights(self) -> dict[str, F32]:
        held = dict(self.inner.weights())
        return {**held, COPY: held[HEAD]}


class SavedFromTheCopy(EngineDefect):
    """The head is saved after arithmetic that a copy went through."""

    def weights(self) -> dict[str, F32]:
        held = dict(self.inner.weights())
        return {**held, HEAD: held[HEAD] * np.float32(1.0 + 2.0**-7)}


@head.mutant("NU-M211a", killed_by="NU-211")
def copy_is_a_parameter(adapter: Any) -> Any:
    """registers the fp32 copy as a parameter"""
    return seeded(Registered)(adapter)


@head.mutant("NU-M211b", killed_by="NU-211")
def weight_is_cast_in_place(adapter: Any) -> Any:
    """turns the head's own weight into fp32"""
    return seeded(CastInPlace)(adapter)


@head.mutant("NU-M212a", killed_by="NU-212")
def copy_is_saved(adapter: Any) -> Any:
    """puts the fp32 copy into the state dict"""
    return seeded(Saved)(adapter)


@head.mutant("NU-M212b", killed_by="NU-212")
def state_dict_has_other_values(adapter: Any) -> Any:
    """saves a head that is one bf16 step off"""
    return seeded(SavedFromTheCopy)(adapter)


@head.mutant("NU-M213a", killed_by="NU-213")
def checkpoint_from_the_copy(adapter: Any) -> Any:
    """writes checkpoints from a changed copy of the head"""
    return seeded(SavedFromTheCopy)(adapter)


@head.mutant("NU-M214a", killed_by="NU-214")
def refits_register_the_copy(adapter: Any) -> Any:
    """registers the fp32 copy as a parameter when it is refreshed"""
    return seeded(RegisteredAtRefit)(adapter)
