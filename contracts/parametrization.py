"""The pytest door: checks, mutants and controls as parameters of a test over the fixture ``adapter``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from contracts.failure import ContractFailure
from contracts.known import known_failures_in
from contracts.pytest_plugin import sessions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from contracts.check import Check
    from contracts.contract import Contract
    from contracts.known import KnownFailure
    from contracts.mutant import Control, Mutant


def tabled(contract: Contract[Any]) -> dict[str, KnownFailure]:
    """The known failures of ``contract`` in the ``pyproject.toml`` of the running session's root folder."""
    return known_failures_in(sessions[-1].rootpath / "pyproject.toml", contract) if sessions else {}


def over_checks(
    contract: Contract[Any], version: str | None, known: Mapping[str, KnownFailure]
) -> pytest.MarkDecorator:
    """One parameter ``check`` per check; a known failure is a strict xfail that only its own code satisfies."""
    parameters = []
    for check in contract.at(version):
        failure = known.get(check.id)
        mark = pytest.mark.contract(
            contract,
            name=contract.name,
            check=check.id,
            level=check.level.value,
            version=version or contract.version,
            known=failure is not None,
        )
        parameters.append(_parameter(check, failure, mark))
    return pytest.mark.parametrize("check", parameters)


def over_mutants(contract: Contract[Any], version: str | None, mutants: Sequence[Mutant[Any]]) -> pytest.MarkDecorator:
    """One parameter ``mutant`` per mutant."""
    return pytest.mark.parametrize("mutant", [_seeded(contract, version, mutant) for mutant in mutants])


def over_controls(
    contract: Contract[Any], version: str | None, controls: Sequence[Control[Any]]
) -> pytest.MarkDecorator:
    """One parameter ``control`` per control."""
    return pytest.mark.parametrize("control", [_seeded(contract, version, control) for control in controls])


def _seeded(contract: Contract[Any], version: str | None, mutant: Mutant[Any]) -> Any:
    mark = pytest.mark.contract_mutant(contract, mutant=mutant, version=version or contract.version)
    return pytest.param(mutant, id=mutant.id, marks=mark)


def _parameter(check: Check[Any], known: KnownFailure | None, mark: pytest.MarkDecorator) -> Any:
    marks = [mark]
    if known is not None and known.expired():
        check = check.expired(known)
    elif known is not None:
        marks.append(
            pytest.mark.xfail(strict=True, raises=_own_failure(check.id), reason=f"{known.reason} ({known.issue})")
        )
    return pytest.param(check, id=check.id, marks=marks)


def _own_failure(check_id: str) -> Any:
    return pytest.RaisesExc(ContractFailure, check=lambda failure: failure.code == check_id)
