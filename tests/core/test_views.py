from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
import toy_adapters as zoo
from rich.console import Console
from toy_echo import echo

import contracts
from contracts import KnownFailure, Report, Wrapper
from contracts.report.badge import as_badge
from contracts.report.combination import combined
from contracts.report.html import as_html
from contracts.report.markdown import as_markdown
from contracts.report.summary import standings
from contracts.report.terminal import as_text, show

HOSTILE = "[/red] :smile: [bold]a|b\\|c</td><script>alert('1')</script> `x` *y* _z_ & \"q\" <think>\n# no heading"


@pytest.fixture
def zoo_report() -> Report:
    """One run over a right, a wrong, a crashing and a lacking adapter."""
    reports = [contracts.verify(echo, adapter()) for adapter in (zoo.Right, zoo.Wrong, zoo.Crashes, zoo.Lacks)]
    return combined(reports)


@pytest.fixture
def hostile_report() -> Report:
    """A run in which every free text tries to break out of its place."""
    report = contracts.verify(echo, zoo.Wrong(), only=["TY-102"])
    [subject], [check], [result] = report.header.subjects, report.checks, report.results
    report.header = replace(
        report.header,
        subjects=(replace(subject, name=HOSTILE),),
        environment={"python": HOSTILE},
        profile=HOSTILE,
    )
    report.checks = [replace(check, claim=HOSTILE)]
    report.results = [replace(result, subject=HOSTILE, message=HOSTILE, failure=HOSTILE)]
    return report


@pytest.fixture
def known_report() -> Report:
    """A run with a known failure."""
    return contracts.verify(echo, zoo.Rude(), known_failures={"TY-102": KnownFailure("it is rude", issue="toy/echo#1")})


@pytest.fixture
def unproved() -> Report:
    """A run of mutants of which one survived."""
    report = contracts.verify_mutants(echo, zoo.Right(), only=["TY-102"])
    survived = replace(echo.mutants[2], wrap=Wrapper).prove(zoo.Right())
    report.mutants = [replace(report.mutants[0], proof=survived.proof, reason=survived.reason)]
    return report


def test_text_is_plain_ascii_with_every_verdict_and_failure(zoo_report: Report) -> None:
    text = as_text(zoo_report)
    assert text.isascii()
    assert "\x1b" not in text
    [row] = [line for line in text.splitlines() if line.startswith("| TY-201")]
    assert re.split(r" *\| *", row)[1:-1] == [
        *("TY-201", "MUST", "A batch comes back in its order."),
        *("passed", "failed", "passed", "skipped"),
    ]
    assert "wrong: TY-102 the greeting is wrong\n  claim   = The echo greets." in text
    assert "crashes: TY-102 crashed: ZeroDivisionError: the echo broke" in text
    assert text == zoo_report.matrix()


def test_a_terminal_gets_colours() -> None:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, color_system="truecolor", width=120)
    show(contracts.verify(echo, zoo.Wrong()), console)
    assert "\x1b[" in stream.getvalue()


def test_text_that_looks_like_markup_is_shown_as_it_is(hostile_report: Report) -> None:
    text = as_text(hostile_report)
    assert "\N{SMILING FACE WITH OPEN MOUTH AND SMILING EYES}" not in text
    assert f"{HOSTILE}: {HOSTILE}" in text
    assert "[/red]" in text.partition("TY-102")[0], "in the table's head too"


@pytest.mark.parametrize("length", [1, 30, 300])
def test_the_name_of_an_adapter_is_never_cut(length: int) -> None:
    adapter = zoo.Right()
    adapter.name = "x" * length
    text = as_text(contracts.verify(echo, adapter, only=["TY-102"]))
    title, _, table = text.partition("+--")
    assert title.count("x") == table.partition("TY-102")[0].count("x") == length
    assert text.isascii()
    assert max(map(len, text.splitlines())) <= 160


def test_nine_adapters_fit_and_leave_room_for_the_claims() -> None:
    adapters = [zoo.Right() for _ in range(9)]
    for number, adapter in enumerate(adapters):
        adapter.name = f"the reference before Gym 0.{number}.0"
    text = as_text(combined([contracts.verify(echo, adapter, profile="smoke") for adapter in adapters]))
    [row] = [line for line in text.splitlines() if line.startswith("| TY-102")]
    assert re.split(r" *\| *", row)[1:4] == ["TY-102", "MUST", "The echo greets."]
    assert row.count("passed") == 9
    assert text.isascii()


def test_a_mutant_that_is_not_killed_is_explained_in_every_view(unproved: Report) -> None:
    reason = "TY-102 passes with the defect"
    assert f"right: TY-M102a survived: {reason}" in as_text(unproved)
    assert f"### TY-M102a survived on right\n\n    {reason}" in as_markdown(unproved)
    assert "**SURVIVED**" in as_markdown(unproved)
    assert f"<pre>{reason}</pre>" in as_html(unproved)


def test_controls_are_told_apart_in_the_kill_matrix() -> None:
    text = as_text(contracts.verify_mutants(echo, zoo.Right()))
    assert re.search(r"TY-C103a \| tolerated by TY-103 \| Drifts by half the budget +\| held", text)
    assert re.search(r"TY-M103a \| TY-103 +\| Drifts by twice the budget +\| killed", text)


def test_markdown_has_the_totals_a_table_and_every_failure(zoo_report: Report) -> None:
    lines = as_markdown(zoo_report).splitlines()
    assert lines[0] == f"## {zoo_report.totals}"
    assert "| id | level | claim | right | wrong | crashes | lacks |" in lines
    assert "| TY-102 | MUST | The echo greets. | pass | **FAIL** | **ERROR** | pass |" in lines
    assert "| toy.echo 1.2 | wrong | 0/4 | 0/1 |  |  |  |  |  |" in lines
    assert "### TY-102 on wrong" in lines
    assert "    TY-102 the greeting is wrong" in lines
    assert lines.count("<details>") == lines.count("</details>") == 1


def test_a_known_failure_shows_its_reason_in_every_view(known_report: Report) -> None:
    reason = "it is rude (toy/echo#1)"
    assert f"known: TY-102 on rude: {reason}" in as_text(known_report)
    assert "- TY-102 on rude: it is rude (toy/echo\\#1)" in as_markdown(known_report)
    page = Page(as_html(known_report))
    assert f"rude: known: {reason}" in page.attributes["title"]
    assert f"TY-102 rude: {reason}" in page.text
    assert "TY-102 the greeting is wrong" in page.text, "what was got and wanted is there too"


def test_levels_are_never_mixed_in_a_summary() -> None:
    rude = contracts.verify(echo, zoo.Rude())
    hasty, lacks = contracts.verify(echo, zoo.Hasty()), contracts.verify(echo, zoo.Lacks())
    tried = contracts.verify_mutants(echo, zoo.Rude())
    lines = [
        (line.subject, line.must, line.should, line.skipped, line.killed, line.holds)
        for line in standings(combined([rude, hasty, lacks, tried]))
    ]
    assert lines == [
        ("rude", "3/4", "1/1", 0, "5/6", False),
        ("hasty", "4/4", "0/1", 0, "", True),
        ("lacks", "3/3", "1/1", 1, "", True),
    ]


def test_markdown_escapes_what_would_break_a_table_or_become_html(hostile_report: Report) -> None:
    markdown = as_markdown(hostile_report)
    [row] = [line for line in markdown.splitlines() if line.startswith("| TY-102")]
    cells = re.findall(r"(?:\\.|[^|\\])+", row)
    assert len([cell for cell in cells if cell.strip()]) == 4
    ours = {"<details>", "</details>", "<summary>toy.echo 1.2</summary>"}
    prose = "\n".join(line for line in markdown.splitlines() if not line.startswith("    ") and line not in ours)
    assert not re.search(r"(?<!\\)<", prose)
    assert not re.search(r"(?<!\\)`", prose)
    assert "# no heading" not in markdown.splitlines()


class Page(HTMLParser):
    """Tags, attributes and text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: dict[str, list[str]] = {}
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            self.attributes.setdefault(name, []).append(value or "")

    def handle_data(self, data: str) -> None:
        self.text += data


def test_html_shows_hostile_text_and_does_nothing_with_it(hostile_report: Report) -> None:
    page = Page(as_html(hostile_report))
    assert not {"script", "think"} & set(page.tags)
    assert set(page.attributes["title"]) == {HOSTILE, f"{HOSTILE}: failed: {HOSTILE}"}
    # Of the summary, the run (profile, environment, adapter), the matrix (column, claim), the failure (three times).
    assert page.text.count("<script>alert('1')</script>") == 9


def test_html_loads_nothing_from_elsewhere(zoo_report: Report, unproved: Report) -> None:
    for report in (zoo_report, unproved):
        html = as_html(report)
        page = Page(html)
        assert not {"script", "link", "img", "iframe", "object", "embed", "base"} & set(page.tags)
        assert not {"src", "srcset", "style", "onload", "onclick"} & page.attributes.keys()
        assert all(link.startswith("#") for link in page.attributes.get("href", ()))
        assert not re.search(r"https?:|//|@import|url\(", html)


def test_html_has_the_totals_and_every_cell(zoo_report: Report) -> None:
    page = Page(as_html(zoo_report))
    assert f"error {zoo_report.totals}" in " ".join(page.text.split())
    verdicts = [name for name in page.attributes["class"] if name in {"passed", "failed", "error", "skipped"}]
    assert sorted(verdicts) == sorted(result.outcome.value for result in zoo_report.results)
    assert {link[1:] for link in page.attributes["href"]} <= set(page.attributes["id"])
    assert len(page.attributes["href"]) == sum(bool(result.failure) for result in zoo_report.results) > 0


def test_html_shows_every_mutant_in_the_row_of_its_check() -> None:
    tried = contracts.verify_mutants(echo, zoo.Right())
    page = Page(as_html(combined([contracts.verify(echo, zoo.Right()), tried])))
    chips = [title for title in page.attributes["title"] if title.startswith("TY-") and " on right: " in title]
    assert len(chips) == len(tried.mutants) == 7
    assert "TY-C103a held on right: Drifts by half the budget" in chips


@pytest.mark.parametrize(
    ("adapter", "message", "colour"),
    [
        (zoo.Right(), "MUST 4/4", "brightgreen"),
        (zoo.Hasty(), "MUST 4/4", "brightgreen"),
        (zoo.Lacks(), "MUST 3/3", "brightgreen"),
        (zoo.Rude(), "MUST 3/4", "red"),
        (zoo.Crashes(), "MUST 3/4", "orange"),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_the_badge_counts_what_must_hold_and_ran(adapter: zoo.Right, message: str, colour: str) -> None:
    badge = json.loads(as_badge(contracts.verify(echo, adapter)))
    assert badge == {"schemaVersion": 1, "label": "contracts", "message": message, "color": colour}


def test_the_badge_tells_known_failures_and_mutants_apart(known_report: Report) -> None:
    assert json.loads(as_badge(known_report))["message"] == "MUST 3/4, 1 known"
    both = combined([contracts.verify(echo, zoo.Right()), contracts.verify_mutants(echo, zoo.Right())])
    assert json.loads(as_badge(both))["message"] == "MUST 4/4, mutants 6/6"


def test_the_badge_of_mutants_counts_those_tried(unproved: Report) -> None:
    assert json.loads(as_badge(contracts.verify_mutants(echo, zoo.Right())))["message"] == "mutants 6/6"
    assert json.loads(as_badge(unproved)) == {
        "schemaVersion": 1,
        "label": "contracts",
        "message": "mutants 0/1",
        "color": "red",
    }


def test_an_incomplete_run_has_no_green_badge() -> None:
    whole = contracts.verify(echo, zoo.Right())
    cut = Report(whole.header, whole.checks, whole.results[:2])
    assert json.loads(as_badge(cut))["color"] == "orange"
