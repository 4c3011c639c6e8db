"""The pytest door: checks, mutants and controls as parameters of a test over the fixture ``adapter``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from contracts.failure import ContractFailure
from contracts.level import Level

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from contracts.check import Check
    from contracts.known import KnownFailure
    from contracts.mutant import Control, Mutant


def over_checks(checks: Sequence[Check[Any]], known: Mapping[str, KnownFailure]) -> pytest.MarkDecorator:
    """One parameter ``check`` per check; a known failure is a strict xfail that only its own code satisfies."""
    return pytest.mark.parametrize("check", [_parameter(check, known.get(check.id)) for check in checks])


def over_mutants(mutants: Sequence[Mutant[Any]]) -> pytest.MarkDecorator:
    """One parameter ``mutant`` per mutant."""
    return pytest.mark.parametrize("mutant", [pytest.param(mutant, id=mutant.id) for mutant in mutants])


def over_controls(controls: Sequence[Control[Any]]) -> pytest.MarkDecorator:
    """One parameter ``control`` per control."""
    return pytest.mark.parametrize("control", [pytest.param(control, id=control.id) for control in controls])


def _parameter(check: Check[Any], known: KnownFailure | None) -> Any:
    marks = [pytest.mark.contract(name=check.contract, check=check.id, level=check.level.value)]
    if known is not None and known.expired():
        check = check.expired(known)
    elif known is not None:
        marks.append(
            pytest.mark.xfail(strict=True, raises=_own_failure(check.id), reason=f"{known.reason} ({known.issue})")
        )
    elif check.level is Level.SHOULD:
        marks.append(pytest.mark.xfail(strict=False, raises=_own_failure(check.id), reason="SHOULD, not MUST"))
    return pytest.param(check, id=check.id, marks=marks)


def _own_failure(check_id: str) -> Any:
    return pytest.RaisesExc(ContractFailure, check=lambda failure: failure.code == check_id)
