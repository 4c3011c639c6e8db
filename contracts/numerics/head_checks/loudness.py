"""NU-4xx: what cannot work is refused before the first token."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contracts.numerics.cases import ForwardCase
from contracts.numerics.head_checks import origins
from contracts.numerics.observation import running
from contracts.numerics.protocols import HeadShape
from contracts.numerics.sides import head

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.numerics.protocols import EngineAdapter

NAMES = ("head", "output_layer")


def _hold(check: Check[EngineAdapter], adapter: EngineAdapter, kind: str) -> None:
    """Raise unless starting such a model with fp32 on fails with an error that names the head."""
    try:
        with running(adapter, None, shape=HeadShape(kind=kind)):
            pass
    except Exception as error:  # which class is the engine's own; that it names the head is judged
        if any(name in str(error).lower() for name in NAMES):
            return
        raise check.fail("the error does not name the head", got=repr(error), want=f"one of {NAMES} in it") from error
    raise check.fail("an engine started that cannot have an fp32 head", got="no error", want="an error", kind=kind)


@head.check("NU-401", source=origins.LOUD, requires={"faults"}, examples=(ForwardCase(),))
def missing_head_is_refused(check: Check[EngineAdapter], adapter: EngineAdapter, case: ForwardCase) -> None:
    """A model in which no head is found is refused at the start, by an error that names the head.

    Why: nothing found looks like nothing to do, and the engine then samples in bf16 or from a copy never refreshed.

    Usual cause: a lookup by attribute that a wrapper or a multimodal model does not have, followed by `continue`.
    """
    del case
    _hold(check, adapter, "missing")


@head.check("NU-402", source=origins.QUANTIZED, requires={"faults"}, examples=(ForwardCase(),))
def quantized_head_is_refused(check: Check[EngineAdapter], adapter: EngineAdapter, case: ForwardCase) -> None:
    """A quantized head is refused at the start, by an error that names the head.

    Why: upcasting quantized numbers ignores their scales; refusing at the first forward wastes a start.

    Usual cause: `weight.float()` on whatever the layer holds.
    """
    del case
    _hold(check, adapter, "quantized")


@head.check("NU-403", source=origins.INERT, requires={"faults"}, examples=("missing", "quantized"))
def off_refuses_nothing(check: Check[EngineAdapter], adapter: EngineAdapter, case: str) -> None:
    """With fp32 off, a model that starts in an engine without the feature starts.

    Why: a quantized head is what many serve, and only asking for fp32 makes it an error.

    Usual cause: the head looked up and judged before the switch is.
    """
    shape = HeadShape(kind=case)
    try:
        with running(adapter, None, "untouched", shape):
            pass
    except Exception:  # noqa: BLE001 - an engine that cannot have such a model says nothing of the switch
        return
    try:
        with running(adapter, None, "off", shape):
            pass
    except Exception as error:  # any refusal is the failure
        raise check.fail(
            "the switched-off head refuses a model", got=repr(error), want="an engine", kind=case
        ) from error
