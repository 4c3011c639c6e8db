"""One test of pytest that holds an adapter to a check, or tries a mutant or a control on it, as a record."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from contracts.failure import ContractFailure, NotDeclared
from contracts.level import Level
from contracts.mutant import Control, Proof
from contracts.report.records import MutantRecord, Outcome, Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contracts.contract import Contract
    from contracts.mutant import Mutant
    from contracts.sighting import Sighting

_CHECK, _MUTANT = "contract", "contract_mutant"


def is_trial(item: pytest.Item) -> bool:
    """Whether the test comes from `Contract.parametrize`, or from its siblings for mutants and controls."""
    return any(item.get_closest_marker(name) for name in (_CHECK, _MUTANT))


@dataclass(frozen=True, slots=True)
class Trial:
    """How such a test ended.

    Attributes:
        item: The test.
        report: What pytest says of its fixtures, if these ended it, or else of its call.
        raised: What ended it early, ``None`` where nothing did.
        sightings: What it tried, in order.
        fixture: Its fixture ``adapter``, ``None`` where it has none, or did not come so far.
    """

    item: pytest.Item
    report: pytest.TestReport
    raised: BaseException | None
    sightings: Sequence[Sighting]
    fixture: Any

    @property
    def contract(self) -> Contract[Any]:
        """The contract that the test is about."""
        contract: Contract[Any] = self._marker.args[0]
        return contract

    @property
    def version(self) -> str:
        """The version that it is pinned to."""
        return str(self._marker.kwargs["version"])

    @property
    def id(self) -> str:
        """Id of the check, the mutant or the control."""
        return str(self._mutant.id if self._mutant else self._marker.kwargs["check"])

    @property
    def origin(self) -> str:
        """The test function with what it is parametrized by besides: what asks for one adapter."""
        return re.sub(rf"-?{re.escape(self.id)}-?", "", self.item.nodeid).removesuffix("[]")

    @property
    def adapter(self) -> Any:
        """What it was tried on, or was to be; ``None`` where the test did not come so far."""
        return next((sighting.adapter for sighting in self.sightings if sighting.id == self.id), self.fixture)

    def record(self, subject: str) -> Result | MutantRecord:
        """The record of it, on the adapter of that name."""
        return self._of_mutant(self._mutant, subject) if self._mutant else self._of_check(subject)

    @property
    def _marker(self) -> pytest.Mark:
        marker = self.item.get_closest_marker(_MUTANT) or self.item.get_closest_marker(_CHECK)
        assert marker is not None  # noqa: S101 - `is_trial` says so
        return marker

    @property
    def _mutant(self) -> Mutant[Any] | None:
        mutant: Mutant[Any] | None = self._marker.kwargs.get("mutant")
        return mutant

    @property
    def _error(self) -> BaseException | None:
        """What stands behind a skip or an xfail that the plugin made of it; else what was raised."""
        made = isinstance(self.raised, pytest.skip.Exception | pytest.xfail.Exception)
        return (self.raised.__cause__ or self.raised) if self.raised and made else self.raised

    @property
    def _why_not_run(self) -> str:
        if self.raised is None:
            return f"the test ended without trying {self.id}"
        if isinstance(self.raised, pytest.skip.Exception):
            return f"the test was skipped: {self.raised.msg}"
        place = "a fixture failed" if self.report.when == "setup" else "the test failed"
        return f"{place}: {type(self.raised).__name__}: {self.raised}"

    def _of_check(self, subject: str) -> Result:
        check, known, error = self.contract[self.id], self._marker.kwargs["known"], self._error
        outcome = self._outcome(binding=known or check.level is Level.MUST)
        if outcome is Outcome.NOT_RUN or self.report.when == "setup":
            shown = self._why_not_run
        else:
            shown = str(error) if error else str(self.report.longrepr or "")
        line = error.message if isinstance(error, ContractFailure) else shown.partition("\n")[0]
        return Result(
            contract=check.contract,
            subject=subject,
            check=check.id,
            # A known failure is strict at every level: what it says must be true.
            level=Level.MUST if known and outcome is Outcome.FAILED else check.level,
            outcome=outcome,
            seconds=round(self.report.duration, 4),
            message=self.report.wasxfail if outcome is Outcome.KNOWN else line,
            failure="" if outcome in {Outcome.PASSED, Outcome.SKIPPED} else shown,
            case=error.case_json if isinstance(error, ContractFailure) else None,
        )

    def _outcome(self, *, binding: bool) -> Outcome:
        if isinstance(self._error, NotDeclared):
            return Outcome.SKIPPED
        if isinstance(self._error, pytest.skip.Exception) or (self.raised is None and not self.sightings):
            return Outcome.NOT_RUN
        if self.report.when == "setup":
            return Outcome.ERROR
        if hasattr(self.report, "wasxfail") and self.report.skipped:
            return Outcome.KNOWN if binding else Outcome.FAILED
        if self.report.passed:
            return Outcome.PASSED
        unexpected_pass = self._error is None
        return Outcome.FAILED if unexpected_pass or isinstance(self._error, ContractFailure) else Outcome.ERROR

    def _of_mutant(self, mutant: Mutant[Any], subject: str) -> MutantRecord:
        shown = next((seen.proof for seen in self.sightings if seen.id == mutant.id and seen.proof), None)
        return MutantRecord(
            contract=mutant.contract,
            subject=subject,
            mutant=mutant.id,
            killed_by=mutant.killed_by,
            description=mutant.description,
            control=isinstance(mutant, Control),
            proof=shown.proof if shown else Proof.INCONCLUSIVE,
            reason=shown.reason if shown else self._why_not_run,
            seconds=round(self.report.duration, 4),
        )
