from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import jsonschema
import pytest
import toy_adapters as zoo
from hypothesis import given, settings
from hypothesis import strategies as st
from toy_echo import echo

import contracts
from contracts import Outcome, Report
from contracts.mutant import Proof
from contracts.report.records import CheckRecord, Footer, Header, MutantRecord, Record, Result, Subject, as_json
from contracts.report.stream import (
    DuplicateResultError,
    InconsistentReportError,
    ReportError,
    TruncatedReportError,
    read,
    schema,
    write,
)

if TYPE_CHECKING:
    from pathlib import Path

VALIDATOR = jsonschema.Draft202012Validator(schema())
#: No deadline: the machine may be busy.
unhurried = settings(deadline=None, max_examples=50)
text = st.text(st.characters(exclude_categories=["Cs"]))
line = text.filter(bool)


@st.composite
def reports(draw: st.DrawFn) -> list[Record]:
    """The records of a whole report, with any text in them."""
    command = draw(st.sampled_from(["run", "mutants"]))
    names = draw(st.lists(line, min_size=1, max_size=3, unique=True))
    ids = draw(st.lists(st.from_regex(r"[A-Z]{2}-[0-9]{3}", fullmatch=True), max_size=3, unique=True))
    subjects = tuple(
        Subject(
            contract="toy.echo",
            contract_version="1.2",
            name=name,
            version=draw(text),
            capabilities=tuple(draw(st.lists(text, unique=True, max_size=2))),
            declared=9,
            selected=len(ids),
        )
        for name in names
    )
    environment = draw(st.dictionaries(text, text, max_size=2))
    head = Header(
        command=command,
        package="0.1.0",
        started="2026-11-30T12:00:00+00:00",
        profile=draw(text),
        environment=environment,
        subjects=subjects,
    )
    checks = [
        CheckRecord(contract="toy.echo", id=check, level="MUST", claim=draw(line), source=draw(line)) for check in ids
    ]
    seconds = st.floats(0, 1e6)
    found: list[Result | MutantRecord] = []
    for name in names:
        for check in ids:
            if command == "run":
                outcome = draw(st.sampled_from(Outcome))
                case = draw(st.none() | text)
                found.append(
                    Result(
                        contract="toy.echo",
                        subject=name,
                        check=check,
                        level=draw(st.sampled_from(["MUST", "SHOULD"])),
                        outcome=outcome,
                        seconds=draw(seconds),
                        message=draw(text),
                        failure=draw(text),
                        case=case,
                    )
                )
            else:
                found.append(
                    MutantRecord(
                        contract="toy.echo",
                        subject=name,
                        mutant=f"{check}a",
                        killed_by=check,
                        description=draw(text),
                        control=draw(st.booleans()),
                        proof=draw(st.sampled_from(Proof)),
                        reason=draw(text),
                        seconds=draw(seconds),
                    )
                )
    report = Report(head)
    for record in found:
        report.add(record)
    return [head, *checks, *found, Footer(counts=report.counts)]


@unhurried
@given(reports())
def test_what_is_written_is_read_back(tmp_path_factory: pytest.TempPathFactory, records: list[Record]) -> None:
    path = tmp_path_factory.getbasetemp() / "round-trip.jsonl"
    with path.open("w", encoding="utf-8") as stream:
        for record in records:
            write(record, stream)
    report = read(path)
    assert [report.header, *report.checks, *report.results, *report.mutants, report.footer] == records


@unhurried
@given(reports())
def test_every_record_conforms_to_the_shipped_schema(records: list[Record]) -> None:
    for record in records:
        stream = io.StringIO()
        write(record, stream)
        assert stream.getvalue().count("\n") == 1
        VALIDATOR.validate(json.loads(stream.getvalue()))


def test_the_schema_is_one_itself() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())


@pytest.fixture
def lines(tmp_path: Path) -> list[str]:
    """A whole report of five failures: header, 5 checks, 5 results, footer."""
    path = tmp_path / "whole.jsonl"
    report = contracts.verify(echo, zoo.Wrong(), profile="smoke")
    with path.open("w", encoding="utf-8") as stream:
        for record in (report.header, *report.checks, *report.results, report.footer):
            assert record is not None
            write(record, stream)
    assert read(path).counts["failed"] == 5
    return path.read_text("utf-8").splitlines(keepends=True)


def changed(record: str, **fields: object) -> str:
    return json.dumps({**json.loads(record), **fields}) + "\n"


def without(record: str, field: str) -> str:
    document = json.loads(record)
    del document[field]
    return json.dumps(document) + "\n"


Edit = Callable[[list[str]], list[str]]
FAULTS: dict[str, tuple[Edit, type[ReportError], str]] = {
    "no footer": (lambda r: r[:-1], TruncatedReportError, ":11: no footer"),
    "cut inside a result": (lambda r: [*r[:8], r[8][:40]], TruncatedReportError, ":8: no footer"),
    "cut inside the footer": (lambda r: [*r[:-1], r[-1][:-5]], TruncatedReportError, ":11: no footer"),
    "only a header": (lambda r: r[:1], TruncatedReportError, ":1: no footer"),
    "a result twice": (lambda r: [*r[:7], *r[6:]], DuplicateResultError, ":8: TY-101 of wrong again, as in "),
    "a result lost": (lambda r: [*r[:6], *r[7:]], InconsistentReportError, ":11: the footer counts {'failed': 5}, the"),
    "another outcome": (
        lambda r: [*r[:6], changed(r[6], outcome="passed"), *r[7:]],
        InconsistentReportError,
        ":12: the footer counts {'failed': 5}, the records give {'passed': 1, 'failed': 4}",
    ),
    "an adapter from nowhere": (
        lambda r: [*r[:6], changed(r[6], subject="right"), *r[7:]],
        InconsistentReportError,
        ":7: the header does not name right as an adapter of toy.echo",
    ),
    "two reports in one file": (lambda r: r + r, ReportError, ":13: the report goes on after its footer"),
    "a second header": (lambda r: [r[0], *r], ReportError, ":2: a second header"),
    "no header": (lambda r: r[1:], ReportError, "does not begin with a header: it is no report"),
    "an empty file": (lambda _: [], ReportError, "does not begin with a header: it is no report"),
    "garbage": (lambda r: [r[0], "garbage\n", *r[1:]], ReportError, ":2: not JSON"),
    "an empty line": (lambda r: [*r[:3], "\n", *r[3:]], ReportError, ":4: not JSON"),
    "another JSON": (lambda _: ['{"a": 1}\n'], ReportError, ":1: not a record of a report: its type is none of header"),
    "a number": (lambda _: ["7\n"], ReportError, ":1: not a record of a report"),
    "an unknown type": (lambda r: [r[0], '{"type": "verdict"}\n'], ReportError, ":2: not a record of a report: its"),
    "a field too few": (
        lambda r: [*r[:6], without(r[6], "message")],
        ReportError,
        ":7: not a record of a report: result: 'message' is a required property",
    ),
    "a field too many": (lambda r: [*r[:6], changed(r[6], extra=1)], ReportError, "'extra' was unexpected"),
    "a wrong value": (
        lambda r: [*r[:6], changed(r[6], outcome="green")],
        ReportError,
        ":7: not a record of a report: result.outcome: 'green' is not one of",
    ),
    "a later format": (
        lambda r: [changed(r[0], schema=2), *r[1:]],
        ReportError,
        ":1: not a record of a report: header.schema: 1 was expected",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_report_is_one_clear_error_with_file_and_line(lines: list[str], tmp_path: Path, fault: str) -> None:
    edit, kind, message = FAULTS[fault]
    path = tmp_path / "faulty.jsonl"
    path.write_text("".join(edit(lines)), "utf-8")
    with pytest.raises(ReportError) as caught:
        read(path)
    assert type(caught.value) is kind
    assert str(path) in str(caught.value)
    assert message in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_a_file_that_is_not_there_or_not_text_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match=r"cannot read .*absent\.jsonl"):
        read(tmp_path / "absent.jsonl")
    (tmp_path / "binary.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ReportError, match=r"cannot read .*binary\.jsonl"):
        read(tmp_path / "binary.jsonl")


@unhurried
@given(st.integers(0, 10**6))
def test_a_report_cut_anywhere_is_never_taken_for_a_whole_one(
    tmp_path_factory: pytest.TempPathFactory, place: int
) -> None:
    report = contracts.verify(echo, zoo.Rude(), only=["TY-102"])
    stream = io.StringIO()
    for record in (report.header, *report.checks, *report.results, report.footer):
        assert record is not None
        write(record, stream)
    whole = stream.getvalue()
    path = tmp_path_factory.getbasetemp() / "cut.jsonl"
    path.write_text(whole[: place % len(whole)], "utf-8")
    with pytest.raises(ReportError):
        read(path)


def test_each_record_reaches_the_disk_at_once(tmp_path: Path) -> None:
    path = tmp_path / "report.jsonl"
    report = contracts.verify(echo, zoo.Right())
    with path.open("w", encoding="utf-8") as stream:
        write(report.header, stream)
        assert json.loads(path.read_text("utf-8")) == json.loads(json.dumps(as_json(report.header)))
