"""The runner behind every door: hold adapters to contracts, or try the mutants, and report."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from contracts.failure import CheckCrashed, ContractFailure, NotDeclared
from contracts.level import Level
from contracts.mutant import Control, expecting
from contracts.profiles import current_profile
from contracts.report.opening import catalogue, header
from contracts.report.records import Footer, Header, MutantRecord, Outcome, Record, Result
from contracts.report.report import Report

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from contracts.check import Check
    from contracts.contract import Contract
    from contracts.known import KnownFailure
    from contracts.mutant import Mutant


@dataclass(frozen=True, slots=True)
class Target:
    """One adapter and the contract it is held to.

    Attributes:
        contract: The contract.
        adapter: The adapter, open for the time of the run.
        version: Contract version to hold it to; ``None`` means the newest.
        only: Ids to limit the run to; empty means all in force.
        known_failures: What is expected to fail.
    """

    contract: Contract[Any]
    adapter: Any
    version: str | None = None
    only: frozenset[str] = frozenset()
    known_failures: Mapping[str, KnownFailure] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of the adapter, as reports show it."""
        return str(getattr(self.adapter, "name", type(self.adapter).__name__))

    @property
    def checks(self) -> tuple[Check[Any], ...]:
        """The checks to run."""
        return self.contract.select(self.version, self.only)

    @property
    def mutants(self) -> tuple[Mutant[Any], ...]:
        """The mutants and controls to try."""
        wanted = {check.id for check in self.checks}
        both = (*self.contract.mutants, *self.contract.controls)
        return expecting((mutant for mutant in both if mutant.killed_by in wanted), self.known_failures)


def verify(
    contract: Contract[Any],
    adapter: Any,
    *,
    version: str | None = None,
    only: Iterable[str] = (),
    case: str | None = None,
    profile: str | None = None,
    known_failures: Mapping[str, KnownFailure] | None = None,
) -> Report:
    """Hold ``adapter`` to ``contract``.

    Args:
        contract: The contract, such as ``contracts.load("gym_overflow.endpoint")``.
        adapter: An implementation behind the contract's protocol.
        version: Contract version to hold it to, by default the newest.
        only: Ids to limit the run to.
        case: One case as JSON, as a failure prints it; needs exactly one id in ``only``.
        profile: ``smoke``, ``default`` or ``deep``.
        known_failures: Failures that are expected for now, by check id.

    Returns:
        The report; `Report.raise_for_failures` turns it into an exception.

    Raises:
        UnknownIdError: If an id does not exist.
        ValueError: If the adapter declares an unknown capability, or the profile, version or case is not valid.
    """
    target = Target(contract, adapter, version, frozenset(only), contract.known(known_failures))
    return _collected(run([target], profile=profile, case=case))


def verify_mutants(
    contract: Contract[Any],
    adapter: Any,
    *,
    version: str | None = None,
    only: Iterable[str] = (),
    known_failures: Mapping[str, KnownFailure] | None = None,
) -> Report:
    """Try every mutant and control of ``contract`` on ``adapter``; arguments as for `verify`."""
    target = Target(contract, adapter, version, frozenset(only), contract.known(known_failures))
    return _collected(try_mutants([target]))


def _collected(events: Iterator[Record | Exception]) -> Report:
    first = next(events)
    assert isinstance(first, Header)  # noqa: S101 - states the order of the stream to the type checker
    report = Report(first)
    for event in events:
        if isinstance(event, Exception):
            report.raised.append(event)
        else:
            report.add(event)
    return report


def run(
    targets: Sequence[Target], *, profile: str | None = None, case: str | None = None
) -> Iterator[Record | Exception]:
    """The records of holding every target to its contract, as they happen; the failures themselves in between.

    Raises:
        ValueError: At once, if the profile, a version, an id, a capability or the case is not valid.
    """
    chosen = profile or current_profile.get()
    cases = [_case_of(target, case) for target in targets]
    counts = {(target.contract.name, target.name): len(target.checks) for target in targets}
    return _held(targets, cases, chosen, header("run", targets, counts, chosen))


def _held(
    targets: Sequence[Target], cases: Sequence[object], chosen: str, head: Header
) -> Iterator[Record | Exception]:
    yield head
    yield from catalogue(targets)
    tally = dict.fromkeys(map(str, Outcome), 0)
    for target, decoded in zip(targets, cases, strict=True):
        for check in target.checks:
            result, error = _hold(target, check, chosen, decoded)
            tally[result.outcome] += 1
            yield result
            if error is not None:
                yield error
    yield Footer(counts=tally)


def try_mutants(targets: Sequence[Target]) -> Iterator[Record | Exception]:
    """The records of trying every mutant and control on every target, as they happen; raises as `run` does."""
    counts = {(target.contract.name, target.name): len(target.mutants) for target in targets}
    return _tried(targets, header("mutants", targets, counts, current_profile.get()))


def _tried(targets: Sequence[Target], head: Header) -> Iterator[Record | Exception]:
    yield head
    yield from catalogue(targets)
    tally: dict[str, int] = {}
    for target in targets:
        for mutant in target.mutants:
            record = _try(target, mutant)
            tally[record.proof] = tally.get(record.proof, 0) + 1
            yield record
    yield Footer(counts=tally)


def _case_of(target: Target, text: str | None) -> Any:
    if text is None:
        return None
    if len(target.checks) != 1:
        raise ValueError("a case belongs to one check: name it with only= (--only on the command line)")
    return target.checks[0].decode(text)


def _hold(target: Target, check: Check[Any], profile: str, case: object) -> tuple[Result, Exception | None]:
    known = target.known_failures.get(check.id)
    promised = known is not None
    if known is not None and known.expired():
        check, known = check.expired(known), None
    begin = time.perf_counter()
    error = _error_of(check, target.adapter, case, profile)
    seconds = time.perf_counter() - begin
    if known is not None and error is None:
        error, known = _unexpected_pass(check, known), None
    match error:
        case None:
            outcome, message = Outcome.PASSED, ""
        case NotDeclared():
            outcome, message = Outcome.SKIPPED, str(error)
        case ContractFailure(code=check.id) if known is not None:
            outcome, message = Outcome.KNOWN, f"{known.reason} ({known.issue})"
        case ContractFailure():
            outcome, message = Outcome.FAILED, error.message
        case CheckCrashed():
            outcome, message = Outcome.ERROR, str(error).partition("\n")[0]
    shown = outcome in {Outcome.FAILED, Outcome.ERROR, Outcome.KNOWN}
    # A known failure is strict at every level: what it says must be true.
    level = Level.MUST if promised and outcome is Outcome.FAILED else check.level
    result = Result(
        contract=target.contract.name,
        subject=target.name,
        check=check.id,
        level=level,
        outcome=outcome,
        seconds=round(seconds, 4),
        message=message,
        failure=str(error) if shown else "",
        case=error.case_json if isinstance(error, ContractFailure) else None,
    )
    fails_run = outcome is Outcome.ERROR or (outcome is Outcome.FAILED and level is Level.MUST)
    return result, error if fails_run else None


def _error_of(
    check: Check[Any], adapter: Any, case: object, profile: str
) -> NotDeclared | CheckCrashed | ContractFailure | None:
    try:
        check.verify(adapter, case=case, profile=profile)
    except (NotDeclared, CheckCrashed, ContractFailure) as error:
        return error
    return None


def _unexpected_pass(check: Check[Any], known: KnownFailure) -> ContractFailure:
    return check.fail(
        "the check passes although it is a known failure",
        got="a pass",
        want=f"no entry for it: {known.reason} ({known.issue})",
    )


def _try(target: Target, mutant: Mutant[Any]) -> MutantRecord:
    begin = time.perf_counter()
    result = mutant.prove(target.adapter)
    return MutantRecord(
        contract=target.contract.name,
        subject=target.name,
        mutant=mutant.id,
        killed_by=mutant.killed_by,
        description=mutant.description,
        control=isinstance(mutant, Control),
        proof=result.proof,
        reason=result.reason,
        seconds=round(time.perf_counter() - begin, 4),
    )
