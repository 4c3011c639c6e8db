from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import toy_adapters as zoo
from toy_echo import echo

import contracts
from contracts import CheckCrashed, ContractFailure, Outcome, Report, Wrapper
from contracts.contract import UnknownIdError
from contracts.report.records import Footer, Header, Result
from contracts.report.report import ExitCode, FailedRunError
from contracts.verification import Target, run, try_mutants


@pytest.mark.parametrize(
    ("name", "counts", "code"),
    [
        ("Right", {"passed": 5}, ExitCode.HOLDS),
        ("Wrong", {"failed": 5}, ExitCode.FAILED),
        ("WrongAbove", {"passed": 4, "failed": 1}, ExitCode.FAILED),
        ("Hasty", {"passed": 4, "failed": 1}, ExitCode.HOLDS),
        ("Lacks", {"passed": 4, "skipped": 1}, ExitCode.HOLDS),
        ("Claims", {"passed": 4, "error": 1}, ExitCode.ERROR),
        ("Crashes", {"passed": 4, "error": 1}, ExitCode.ERROR),
        ("Exits", {"passed": 4, "error": 1}, ExitCode.ERROR),
        ("Hangs", {"passed": 4, "error": 1}, ExitCode.ERROR),
        ("Flaky", {"passed": 3, "failed": 2}, ExitCode.FAILED),
        ("Late", {"passed": 4, "failed": 1}, ExitCode.FAILED),
    ],
)
def test_every_check_of_every_animal_in_the_zoo_is_counted(name: str, counts: dict[str, int], code: ExitCode) -> None:
    report = contracts.verify(echo, getattr(zoo, name)())
    assert {outcome: count for outcome, count in report.counts.items() if count} == counts
    assert sum(report.counts.values()) == report.expected == 5
    assert report.exit_code is code


def test_an_unknown_capability_is_an_error_before_anything_runs() -> None:
    with pytest.raises(ValueError, match="unknown capabilities bathces"):
        contracts.verify(echo, zoo.Unknown())


def test_the_totals_are_one_line() -> None:
    report = contracts.verify(echo, zoo.Lacks())
    assert report.totals == "4 passed, 0 failed, 0 known, 1 skipped"
    mutants = contracts.verify_mutants(echo, zoo.Right())
    assert mutants.totals == "6 killed, 0 survived, 0 inconclusive"


def test_results_stand_in_the_order_of_their_ids_and_say_what_was_seen() -> None:
    report = contracts.verify(echo, zoo.WrongAbove())
    assert [result.check for result in report.results] == [check.id for check in echo.at()]
    first = report.results[0]
    assert (first.subject, first.message, first.case) == (
        "wrong above",
        "another number came back",
        '{"value": 43}',
    )
    assert first.failure.startswith("TY-101 another number came back\n  claim")


def test_the_header_names_what_the_verdict_depends_on() -> None:
    head = contracts.verify(echo, zoo.Right(), profile="smoke").header
    assert (head.command, head.profile, head.package) == ("run", "contracts-smoke", "0.1.0")
    assert {"python", "platform", "hypothesis"} <= head.environment.keys()
    [subject] = head.subjects
    assert (subject.name, subject.version, subject.capabilities) == ("right", "1.0", ("batches",))


def test_a_run_can_be_limited_to_some_checks() -> None:
    report = contracts.verify(echo, zoo.Right(), only=["TY-201", "TY-101"])
    assert [result.check for result in report.results] == ["TY-101", "TY-201"]
    [subject] = report.header.subjects
    assert (subject.declared, subject.selected) == (5, 2)
    assert report.exit_code is ExitCode.HOLDS


def test_a_run_can_be_limited_to_one_case() -> None:
    assert contracts.verify(echo, zoo.WrongAbove(), only=["TY-101"], case='{"value": 42}').exit_code is ExitCode.HOLDS
    report = contracts.verify(echo, zoo.WrongAbove(), only=["TY-101"], case='{"value": 44}')
    assert report.results[0].case == '{"value": 44}'


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"only": ["TY-999"]}, "has no check TY-999"),
        ({"case": "{}"}, "a case belongs to one check"),
        ({"case": "{}", "only": ["TY-101"]}, "not a Number: value: Field required"),
        ({"case": "{}", "only": ["TY-102"]}, "TY-102 takes no case"),
        ({"profile": "thorough"}, "no profile 'thorough'"),
        ({"version": "9.0"}, r"9\.0 does not exist yet"),
    ],
    ids=str,
)
def test_bad_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        contracts.verify(echo, zoo.Crashes(), **arguments)


def test_bad_arguments_are_refused_before_the_first_record() -> None:
    with pytest.raises(UnknownIdError):
        run([Target(echo, zoo.Right(), only=frozenset({"TY-999"}))])
    with pytest.raises(ValueError, match="unknown capabilities"):
        try_mutants([Target(echo, zoo.Unknown())])


def test_two_adapters_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two adapters of one contract have the same name"):
        run([Target(echo, zoo.Right()), Target(echo, zoo.Right())])


def test_raising_gives_every_failed_must_and_every_crash() -> None:
    with pytest.raises(ExceptionGroup, match=r"0 passed, 5 failed, 0 known, 0 skipped") as caught:
        contracts.verify(echo, zoo.Wrong()).raise_for_failures()
    assert all(isinstance(error, ContractFailure) for error in caught.value.exceptions)
    assert [error.code for error in caught.value.exceptions] == ["TY-101", "TY-102", "TY-103", "TY-201"], "no SHOULD"
    with pytest.raises(ExceptionGroup) as caught:
        contracts.verify(echo, zoo.Crashes()).raise_for_failures()
    [crash] = caught.value.exceptions
    assert isinstance(crash, CheckCrashed)


@pytest.mark.parametrize("name", ["Right", "Hasty", "Lacks"])
def test_nothing_is_raised_where_all_must_hold(name: str) -> None:
    contracts.verify(echo, getattr(zoo, name)()).raise_for_failures()


def test_a_run_without_its_end_is_incomplete() -> None:
    whole = contracts.verify(echo, zoo.Right())
    cut = Report(whole.header, whole.checks, whole.results[:3])
    assert cut.exit_code is ExitCode.INCOMPLETE
    with pytest.raises(ExceptionGroup) as caught:
        cut.raise_for_failures()
    assert str(caught.value.exceptions[0]) == "the run is incomplete: 3 of 5 checks"


def test_a_run_that_lost_a_result_is_incomplete_though_it_has_a_footer() -> None:
    whole = contracts.verify(echo, zoo.Right())
    lost = Report(whole.header, whole.checks, whole.results[1:], footer=Footer(counts={"passed": 4}))
    assert lost.exit_code is ExitCode.INCOMPLETE


def test_a_failure_outweighs_a_missing_end_and_an_error_outweighs_a_failure() -> None:
    whole = contracts.verify(echo, zoo.Wrong())
    assert Report(whole.header, whole.checks, whole.results[:3]).exit_code is ExitCode.FAILED
    error = replace(whole.results[0], outcome=Outcome.ERROR)
    assert Report(whole.header, whole.checks, [error, *whole.results[1:]]).exit_code is ExitCode.ERROR


def test_a_second_header_is_refused() -> None:
    report = contracts.verify(echo, zoo.Right())
    with pytest.raises(ValueError, match="a report has one header"):
        report.add(report.header)


def test_every_mutant_and_control_is_counted() -> None:
    report = contracts.verify_mutants(echo, zoo.Right())
    assert report.counts == {"killed": 6, "survived": 0, "inconclusive": 0, "held": 1, "refused": 0, "skipped": 0}
    assert report.exit_code is ExitCode.HOLDS
    assert report.expected == 7
    report.raise_for_failures()


@pytest.mark.parametrize(
    ("adapter", "counts", "code"),
    [
        (zoo.Rude(), {"killed": 5, "inconclusive": 1, "held": 1}, ExitCode.INCOMPLETE),
        (zoo.Crashes(), {"killed": 5, "inconclusive": 1, "held": 1}, ExitCode.INCOMPLETE),
        (zoo.Lacks(), {"killed": 5, "skipped": 1, "held": 1}, ExitCode.HOLDS),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_mutants_on_other_adapters(adapter: Any, counts: dict[str, int], code: ExitCode) -> None:
    report = contracts.verify_mutants(echo, adapter)
    assert {proof: count for proof, count in report.counts.items() if count} == counts
    assert report.exit_code is code


def test_a_surviving_mutant_and_a_refused_control_fail_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    survivor = replace(echo.mutants[0], wrap=Wrapper)
    refused = replace(echo.controls[0], wrap=echo.mutants[3].wrap)
    monkeypatch.setitem(echo._mutants, survivor.id, survivor)  # noqa: SLF001 - a defect
    assert contracts.verify_mutants(echo, zoo.Right()).exit_code is ExitCode.FAILED
    monkeypatch.undo()
    monkeypatch.setitem(echo._controls, refused.id, refused)  # noqa: SLF001 - a defect
    report = contracts.verify_mutants(echo, zoo.Right())
    assert report.exit_code is ExitCode.FAILED
    with pytest.raises(ExceptionGroup) as caught:
        report.raise_for_failures()
    assert isinstance(caught.value.exceptions[0], FailedRunError)
    assert str(caught.value.exceptions[0]) == "TY-C103a: refused: the measurement drifts"


def test_the_stream_begins_with_the_header_and_ends_with_the_footer() -> None:
    events = [event for event in run([Target(echo, zoo.Wrong())]) if not isinstance(event, Exception)]
    kinds = [event.type for event in events]
    assert kinds == ["header", *["check"] * 5, *["result"] * 5, "footer"]
    assert isinstance(events[0], Header)
    assert isinstance(events[-1], Footer)
    assert events[-1].counts == {"passed": 0, "failed": 5, "known": 0, "skipped": 0, "error": 0, "not run": 0}


def test_a_check_of_several_adapters_is_listed_once() -> None:
    events = list(run([Target(echo, zoo.Right()), Target(echo, zoo.Lacks())]))
    checks = [event.id for event in events if getattr(event, "type", "") == "check"]
    assert checks == [check.id for check in echo.at()]
    assert sum(isinstance(event, Result) for event in events) == 10
