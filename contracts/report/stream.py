"""Reports as JSON Lines: written record by record, read back whole and validated."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import jsonschema

from contracts.mutant import Proof
from contracts.report.records import (
    CheckRecord,
    Footer,
    Header,
    MutantRecord,
    Outcome,
    Record,
    Result,
    Subject,
    as_json,
)
from contracts.report.report import Report

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from typing import TextIO


class ReportError(ValueError):
    """A file that is not a report."""


class TruncatedReportError(ReportError):
    """A report whose footer is missing: the run behind it was cut short."""


class DuplicateResultError(ReportError):
    """A report that holds the same check, or the same mutant, of one adapter twice."""


class InconsistentReportError(ReportError):
    """A report whose counts do not match its records, or reports that cannot be combined."""


@cache
def schema() -> dict[str, Any]:
    """The JSON Schema that every line of a report conforms to."""
    document: dict[str, Any] = json.loads(files("contracts.report").joinpath("schema.json").read_text("utf-8"))
    return document


def write(record: Record, stream: TextIO) -> None:
    """Append one record to ``stream`` and flush it, so that a run that is killed leaves what it found."""
    stream.write(json.dumps(as_json(record)) + "\n")
    stream.flush()


def read(path: Path) -> Report:
    """The report in ``path``.

    Raises:
        ReportError: If the file cannot be read, or a line is no record; the message names file and line.
        TruncatedReportError: If there is no footer.
        DuplicateResultError: If a check or mutant of one adapter occurs twice.
        InconsistentReportError: If the footer's counts are not those of the records.
    """
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ReportError(f"cannot read {path}: {error}") from error
    records = [_record(line, f"{path}:{number}") for number, line in enumerate(lines, 1) if line.strip()]
    if not records or not isinstance(records[0], Header):
        raise ReportError(f"{path} does not begin with a header: it is no report")
    report = Report(records[0])
    for record in records[1:]:
        if report.footer is not None:
            raise ReportError(f"{path} goes on after its footer")
        report.add(record)
    if report.footer is None:
        raise TruncatedReportError(f"{path} has no footer: the run behind it did not end")
    _validate(report, str(path))
    return report


def combined(reports: Iterable[Report]) -> Report:
    """One report of several runs of the same command, such as the shards of a CI job.

    Raises:
        InconsistentReportError: If commands or package versions differ.
        DuplicateResultError: If two hold the same adapter.
    """
    first, *rest = reports
    for report in rest:
        for name in ("command", "package"):
            ours, theirs = getattr(first.header, name), getattr(report.header, name)
            if ours != theirs:
                raise InconsistentReportError(f"reports cannot be combined: {name} is {ours} and {theirs}")
    every = (first, *rest)
    header = as_json(first.header)
    del header["type"]
    header["subjects"] = tuple(subject for report in every for subject in report.header.subjects)
    whole = Report(Header(**header))
    for report in every:
        known = {check.id for check in whole.checks}
        whole.checks += [check for check in report.checks if check.id not in known]
        whole.results += report.results
        whole.mutants += report.mutants
    whole.footer = Footer(counts=whole.counts)
    _validate(whole, "the combined report")
    return whole


def _record(line: str, where: str) -> Record:
    try:
        document = json.loads(line)
        jsonschema.validate(document, schema())
    except json.JSONDecodeError as error:
        raise ReportError(f"{where}: not JSON: {error}") from error
    except jsonschema.ValidationError as error:
        reason = jsonschema.exceptions.best_match([error]).message
        raise ReportError(f"{where}: not a record of a report: {reason}") from error
    match document.pop("type"):
        case "header":
            document["subjects"] = tuple(
                Subject(**{**subject, "capabilities": tuple(subject["capabilities"])})
                for subject in document["subjects"]
            )
            return Header(**document)
        case "check":
            return CheckRecord(**document)
        case "result":
            return Result(**{**document, "outcome": Outcome(document["outcome"])})
        case "mutant":
            return MutantRecord(**{**document, "proof": Proof(document["proof"])})
        case _:
            return Footer(**document)


def _validate(report: Report, where: str) -> None:
    seen = set()
    keys = [(result.contract, result.subject, result.check) for result in report.results]
    keys += [(mutant.contract, mutant.subject, mutant.mutant) for mutant in report.mutants]
    for key in keys:
        if key in seen:
            raise DuplicateResultError(f"{where} holds {key[2]} of {key[1]} twice")
        seen.add(key)
    assert report.footer is not None  # noqa: S101 - the caller has seen to it
    stated = {name: count for name, count in report.footer.counts.items() if count}
    found = {name: count for name, count in report.counts.items() if count}
    if stated != found:
        raise InconsistentReportError(f"{where}: the footer counts {stated}, the records give {found}")
