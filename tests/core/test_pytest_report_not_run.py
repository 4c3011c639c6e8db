"""What a pytest run left out, in the report that ``--contracts-report`` writes."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from contracts import Outcome, Report
from contracts.cli import app
from contracts.report.badge import as_badge
from contracts.report.html import as_html
from contracts.report.markdown import as_markdown
from contracts.report.report import ExitCode
from contracts.report.stream import read
from contracts.report.summary import standings

pytest_plugins = ["pytester"]

FILE = """
import pytest
import toy_adapters
from toy_echo import echo

@pytest.fixture(params={adapters!r})
def adapter(request):
    return getattr(toy_adapters, request.param)()

{mark}
@echo.parametrize()
def test_echo(adapter, check):
    {body}
    check.verify(adapter)
"""


def recorded(pytester: pytest.Pytester, *adapters: str, mark: str = "", body: str = "") -> Report:
    pytester.makepyfile(test_it=FILE.format(adapters=adapters, mark=mark, body=body))
    pytester.runpytest_inprocess("--contracts-report", "report.jsonl", "--contracts-profile", "smoke")
    return read(pytester.path / "report.jsonl")


def test_an_adapter_that_cannot_be_built_is_an_error_of_its_checks_alone(pytester: pytest.Pytester) -> None:
    report = recorded(pytester, "Right", "unbuildable")
    right, other = report.header.subjects
    assert (right.name, right.declared, right.selected) == ("right", 5, 5)
    assert (other.name, other.declared, other.selected) == ("test_it.py::test_echo[unbuildable]", 5, 5)
    errors = [result for result in report.results if result.subject == other.name]
    assert {(result.outcome, len(report.results)) for result in errors} == {(Outcome.ERROR, 10)}
    assert errors[0].message.startswith("a fixture failed: ")
    assert report.exit_code is ExitCode.ERROR
    assert [line.holds for line in standings(report)] == [True, False]
    assert [line.must for line in standings(report)] == ["4/4", "0/4"]


def test_an_adapter_that_broke_on_the_way_keeps_its_name(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest
        import toy_adapters
        from toy_echo import echo

        @pytest.fixture
        def adapter(request):
            if "TY-103" in request.node.name:
                raise RuntimeError("its server is gone")
            return toy_adapters.Right()

        @echo.parametrize()
        def test_echo(adapter, check):
            check.verify(adapter)
        """
    )
    pytester.runpytest_inprocess("--contracts-report", "report.jsonl").assert_outcomes(passed=4, errors=1)
    report = read(pytester.path / "report.jsonl")
    assert [(subject.name, subject.selected) for subject in report.header.subjects] == [("right", 5)]
    [error] = report.failures
    assert (error.check, error.message) == ("TY-103", "a fixture failed: RuntimeError: its server is gone")


@pytest.mark.parametrize(
    ("mark", "body", "reason"),
    [
        ("@pytest.mark.skip(reason='needs an engine')", "", "the test was skipped: needs an engine"),
        ("", "pytest.skip('not today')", "the test was skipped: not today"),
        ("", "return", "the test ended without trying TY-101"),
    ],
)
def test_a_check_that_was_left_out_is_not_run(pytester: pytest.Pytester, mark: str, body: str, reason: str) -> None:
    report = recorded(pytester, "Right", mark=mark, body=body)
    assert report.outcomes["not run"] == len(report.results) == 5
    assert report.footer is not None
    assert report.footer.counts["not run"] == 5
    assert report.results[0].message == reason
    assert report.exit_code is ExitCode.INCOMPLETE
    with pytest.raises(ExceptionGroup) as caught:
        report.raise_for_failures()
    assert f"TY-101 did not run: {reason}" in str(caught.value.exceptions[0])


def test_a_check_skipped_for_want_of_a_capability_is_no_such_check(pytester: pytest.Pytester) -> None:
    report = recorded(pytester, "Lacks")
    assert (report.outcomes["skipped"], report.outcomes["not run"]) == (1, 0)
    assert report.exit_code is ExitCode.HOLDS


def test_every_view_shows_what_did_not_run(pytester: pytest.Pytester) -> None:
    report = recorded(pytester, "Right", mark="@pytest.mark.skip(reason='needs an engine')")
    name = report.header.subjects[0].name
    assert f"not run: TY-101 on {name}: the test was skipped: needs an engine" in report.matrix()
    markdown = as_markdown(report)
    assert "**NOT RUN**" in markdown
    assert "the test was skipped: needs an engine" in markdown
    page = as_html(report)
    assert page.count('<td class="not-run"') == 5
    assert "the test was skipped: needs an engine" in page
    badge = json.loads(as_badge(report))
    assert (badge["message"], badge["color"]) == ("MUST 0/4", "orange")


def test_a_combination_keeps_the_others_and_ends_incomplete(pytester: pytest.Pytester) -> None:
    recorded(pytester, "Rude", mark="@pytest.mark.skip(reason='needs an engine')")
    (pytester.path / "report.jsonl").rename(pytester.path / "first.jsonl")
    recorded(pytester, "Right")
    result = CliRunner().invoke(app, ["report", "first.jsonl", "report.jsonl", "--html", "page.html"])
    assert result.exit_code == ExitCode.INCOMPLETE, result.output
    assert "5 checks were asked for and did not run, so the run is incomplete" in result.output
    assert result.output.splitlines()[-1] == "5 passed, 0 failed, 0 known, 0 skipped"
    assert (pytester.path / "page.html").is_file()


def test_an_adapter_that_declares_what_does_not_exist_has_a_report(pytester: pytest.Pytester) -> None:
    report = recorded(pytester, "Unknown")
    assert report.outcomes["error"] == 5
    assert "declares unknown capabilities bathces" in report.results[0].message
