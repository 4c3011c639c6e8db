"""One report of several, such as those of the shards or the machines of a CI job."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from contracts.report.records import Footer, MutantRecord, Result, Subject
from contracts.report.report import Report
from contracts.report.stream import DuplicateResultError, InconsistentReportError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def combined(reports: Iterable[Report]) -> Report:
    """One report of several, of checks, of mutants, or of both.

    An adapter may be in several of them with different checks. Where environments or profiles differ, the header names
    all of them, and `Report.runs` says which run had which.

    Raises:
        ValueError: If there is no report.
        InconsistentReportError: If the packages, the contracts' versions, or what is said of one adapter differ.
        DuplicateResultError: If two hold the same check, or the same mutant, of one adapter.
    """
    every = list(reports)
    if not every:
        raise ValueError("there is no report to combine")
    for report in every:
        _agree("the version of rl-contracts", every[0].header.package, report.header.package)
    whole = Report(
        replace(
            every[0].header,
            command=" and ".join(name for name in ("run", "mutants") if any(report.holds(name) for report in every)),
            profile=", ".join(dict.fromkeys(report.header.profile for report in every)),
            started=min(report.header.started for report in every),
            environment=_environments([report.header.environment for report in every]),
            subjects=_subjects([subject for report in every for subject in report.header.subjects]),
        ),
        parts=[header for report in every for header in report.runs],
    )
    for report in every:
        known = {check.id for check in whole.checks}
        whole.checks += [check for check in report.checks if check.id not in known]
        whole.results += report.results
        whole.mutants += report.mutants
    _refuse_duplicates(every)
    whole.footer = Footer(counts=whole.counts)
    return whole


def _refuse_duplicates(every: Sequence[Report]) -> None:
    seen: dict[tuple[str, str, str], Report] = {}
    for report in every:
        records: list[Result | MutantRecord] = [*report.results, *report.mutants]
        for record in records:
            first = seen.setdefault(record.key, report)
            if first is not report:
                raise DuplicateResultError(
                    f"two of the reports hold {record.key[2]} of {record.subject}: {_named(first)} and "
                    f"{_named(report)}; leave one of them out, or give one of the adapters another name"
                )


def _named(report: Report) -> str:
    return report.origin or f"the one of {report.header.started}"


def _agree(name: str, one: object, other: object) -> None:
    if one != other:
        raise InconsistentReportError(f"reports cannot be combined: {name} is {one} and {other}")


def _environments(every: Sequence[dict[str, str]]) -> dict[str, str]:
    names = dict.fromkeys(name for environment in every for name in environment)
    return {
        name: ", ".join(dict.fromkeys(environment[name] for environment in every if name in environment))
        for name in names
    }


def _subjects(every: Sequence[Subject]) -> tuple[Subject, ...]:
    found: dict[tuple[str, str], Subject] = {}
    versions: dict[str, str] = {}
    for subject in every:
        version = versions.setdefault(subject.contract, subject.contract_version)
        _agree(f"the version of {subject.contract}", version, subject.contract_version)
        key = (subject.contract, subject.name)
        if (first := found.get(key)) is None:
            found[key] = subject
            continue
        for name in ("version", "capabilities", "declared"):
            _agree(f"{name} of {subject.name}", getattr(first, name), getattr(subject, name))
        found[key] = replace(first, selected=first.selected + subject.selected)
    return tuple(found.values())
