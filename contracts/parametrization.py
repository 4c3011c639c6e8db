"""The pytest door: checks, mutants and controls as parameters of a test over the fixture ``adapter``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from contracts.failure import ContractFailure
from contracts.known import known_failures_in
from contracts.mutant import expecting
from contracts.pytest_plugin import sessions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from contracts.check import Check
    from contracts.contract import Contract
    from contracts.known import KnownFailure
    from contracts.mutant import Mutant


def over_checks(
    contract: Contract[Any], version: str | None, known_failures: Mapping[str, KnownFailure] | None
) -> pytest.MarkDecorator:
    """One parameter ``check`` per check; a known failure is a strict xfail that only its own code satisfies."""
    known = _known(contract, known_failures)
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


def over_mutants(
    contract: Contract[Any], version: str | None, known_failures: Mapping[str, KnownFailure] | None
) -> pytest.MarkDecorator:
    """One parameter ``mutant`` per mutant; it knows the known failure of its check."""
    return pytest.mark.parametrize("mutant", _seeded(contract, version, contract.mutants, known_failures))


def over_controls(
    contract: Contract[Any], version: str | None, known_failures: Mapping[str, KnownFailure] | None
) -> pytest.MarkDecorator:
    """One parameter ``control`` per control, as `over_mutants`."""
    return pytest.mark.parametrize("control", _seeded(contract, version, contract.controls, known_failures))


def _known(contract: Contract[Any], known_failures: Mapping[str, KnownFailure] | None) -> Mapping[str, KnownFailure]:
    """Those of the call, or without any those in the ``pyproject.toml`` of the running session's root folder."""
    if known_failures is not None:
        return contract.known(known_failures)
    return known_failures_in(sessions[-1].rootpath / "pyproject.toml", contract) if sessions else {}


def _seeded(
    contract: Contract[Any],
    version: str | None,
    seeds: Sequence[Mutant[Any]],
    known_failures: Mapping[str, KnownFailure] | None,
) -> list[Any]:
    in_force = {check.id for check in contract.at(version)}
    marked = pytest.mark.contract_mutant
    return [
        pytest.param(seed, id=seed.id, marks=marked(contract, mutant=seed, version=version or contract.version))
        for seed in expecting(seeds, _known(contract, known_failures))
        if seed.killed_by in in_force
    ]


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
