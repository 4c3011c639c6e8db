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


@cache
def _validator() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schema())


def _reason(error: jsonschema.ValidationError, document: Any) -> str:
    kinds = [form["$ref"].rpartition("/")[2] for form in schema()["oneOf"]]
    kind = document.get("type") if isinstance(document, dict) else None
    if kind not in kinds:
        return f"its type is none of {', '.join(kinds)}"
    # The schema is one of several forms; only what the form of that type says against it helps.
    own = [inner for inner in error.context or () if inner.schema_path[0] == kinds.index(kind)]
    best = jsonschema.exceptions.best_match(own) or error
    place = ".".join(map(str, best.absolute_path))
    return f"{kind}{'.' if place else ''}{place}: {best.message}"


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
        InconsistentReportError: If a record is of no adapter in the header, or the footer's counts are wrong.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ReportError(f"cannot read {path}: {error}") from error
    # Every record ends its line: what follows the last one is a record that was never finished.
    *lines, unfinished = text.split("\n")
    report: Report | None = None
    seen: dict[tuple[str, str, str], str] = {}
    for number, line in enumerate(lines, 1):
        record = _record(line, where := f"{path}:{number}")
        if report is None:
            if not isinstance(record, Header):
                raise ReportError(f"{where}: {path} does not begin with a header: it is no report")
            report = Report(record, origin=str(path))
        elif report.footer is not None:
            raise ReportError(f"{where}: the report goes on after its footer")
        elif isinstance(record, Header):
            raise ReportError(f"{where}: a second header; one file holds one report")
        else:
            if isinstance(record, Result | MutantRecord):
                _check_place(record, where, report, seen)
            report.add(record)
    if report is None:
        raise ReportError(f"{path} does not begin with a header: it is no report")
    if unfinished or report.footer is None:
        raise TruncatedReportError(f"{path}:{len(lines)}: no footer: the run behind this report did not end")
    _check_counts(report, f"{path}:{len(lines)}")
    return report


def _check_place(
    record: Result | MutantRecord, where: str, report: Report, seen: dict[tuple[str, str, str], str]
) -> None:
    subjects = {(subject.contract, subject.name) for subject in report.header.subjects}
    if (record.contract, record.subject) not in subjects:
        raise InconsistentReportError(
            f"{where}: the header does not name {record.subject} as an adapter of {record.contract}"
        )
    if (first := seen.setdefault(record.key, where)) != where:
        raise DuplicateResultError(f"{where}: {record.key[2]} of {record.subject} again, as in {first}")


def _record(line: str, where: str) -> Record:
    try:
        document = json.loads(line)
        _validator().validate(document)
    except json.JSONDecodeError as error:
        raise ReportError(f"{where}: not JSON: {error}") from error
    except jsonschema.ValidationError as error:
        raise ReportError(f"{where}: not a record of a report: {_reason(error, document)}") from error
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


def _check_counts(report: Report, where: str) -> None:
    stated = {name: count for name, count in report.footer.counts.items() if count} if report.footer else {}
    found = {name: count for name, count in report.counts.items() if count}
    if stated != found:
        raise InconsistentReportError(f"{where}: the footer counts {stated}, the records give {found}")
