"""The HTML report in a real browser: no word on its console, nothing wider than the screen, expanded on paper."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import toy_adapters as zoo
from toy_echo import echo

import contracts
from contracts import KnownFailure
from contracts.report.combination import combined
from contracts.report.html import as_html

if TYPE_CHECKING:
    from pathlib import Path

    from chromium import Chromium

    from contracts import Report

ROWS = """return [...document.querySelectorAll("tr[class^=level]")].filter((row) => row.checkVisibility()).length"""


@pytest.fixture(scope="module")
def report() -> Report:
    """Twenty adapters, failures of every kind, and a kill matrix."""
    known = {"TY-102": KnownFailure("it is rude", issue="toy/echo#1")}
    runs = [contracts.verify(echo, zoo.Rude(), profile="smoke", known_failures=known)]
    for number in range(19):
        adapter = (zoo.Right, zoo.Wrong, zoo.Lacks, zoo.Crashes)[number % 4]()
        adapter.name = f"an implementation by others, the one with the number {number}"
        runs.append(contracts.verify(echo, adapter, profile="smoke"))
    return combined([*runs, contracts.verify_mutants(echo, zoo.Right())])


def click(browser: Chromium, name: str) -> int:
    """Click a filter; gives the rows that are shown then."""
    browser.run("document.getElementById(arguments[0]).click()", name)
    return int(browser.run(ROWS))


@pytest.mark.parametrize("width", [1200, 400])
def test_it_fits_the_screen_and_can_be_filtered(browser: Chromium, tmp_path: Path, report: Report, width: int) -> None:
    page = tmp_path / "page.html"
    page.write_text(as_html(report), "utf-8")
    browser.open(page.as_uri(), width)
    assert browser.run("return document.documentElement.scrollWidth") <= width
    # Five checks in the matrix of checks, and four in that of mutants.
    assert browser.run(ROWS) == 10
    assert click(browser, "level-MUST") == 2
    assert click(browser, "level-MUST") == 10
    assert click(browser, "only-unclean") == 5
    texts = browser.run("return document.querySelectorAll('.told').length")
    assert texts == sum(bool(result.failure) for result in report.results)
    browser.run("document.querySelector('td a').click()")
    assert browser.run("return document.querySelector(':target').checkVisibility()"), "a cell leads to its text"
    assert browser.console() == []
    assert {url.partition("#")[0] for url in browser.requested()} == {page.as_uri()}


def pages(browser: Chromium, page: Path, html: str) -> int:
    page.write_text(html, "utf-8")
    browser.open(page.as_uri())
    return len(re.findall(rb"/Type\s*/Page\b", browser.printed()))


def test_what_is_folded_is_printed(browser: Chromium, tmp_path: Path, report: Report) -> None:
    html, page = as_html(replace(report, parts=[])), tmp_path / "page.html"
    assert "details::details-content" in html
    assert pages(browser, page, html) > pages(browser, page, html.replace("details::details-content", "no-such-part"))
