"""The HTML report in a real browser: no word on its console, nothing wider than the screen, expanded on paper."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
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

    from contracts import Report

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--enable-logging=stderr", "--v=0"),
)
#: Measures the page in a frame as wide as the screen would be, since a headless window is never narrower than 500.
FRAME = """<!doctype html><iframe id=page style="width:{width}px;height:2000px;border:0" srcdoc="{page}"></iframe>
<script>onload = () => {{
  const page = document.getElementById("page").contentDocument;
  const shown = (name) => [...page.querySelectorAll(name)].filter((each) => each.checkVisibility()).length;
  const rows = () => shown("tr[class^=level]");
  const click = (name) => page.getElementById(name).click();
  const seen = {{width: page.documentElement.scrollWidth, rows: rows(), texts: page.querySelectorAll(".told").length}};
  click("level-MUST"); seen.should = rows(); click("level-MUST");
  click("only-unclean"); seen.unclean = rows(); click("only-unclean");
  page.querySelector("td a").click(); page.location.hash = page.querySelector("td a").hash;
  document.title = JSON.stringify(seen);
}};</script>"""

pytestmark = pytest.mark.skipif(BROWSER is None, reason="needs Chromium")


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


def browse(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    assert BROWSER is not None
    command = [BROWSER, *FLAGS, f"--user-data-dir={folder / 'profile'}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)  # noqa: S603 - our own command


@pytest.mark.parametrize("width", [1200, 400])
def test_it_fits_the_screen_and_can_be_filtered(tmp_path: Path, report: Report, width: int) -> None:
    quoted = as_html(report).replace("&", "&amp;").replace('"', "&quot;")
    (tmp_path / "frame.html").write_text(FRAME.format(width=width, page=quoted), "utf-8")
    browsed = browse(tmp_path, "--dump-dom", "--window-size=1200,2000", (tmp_path / "frame.html").as_uri())
    title = re.search(r"<title>(.*?)</title>", browsed.stdout)
    assert title, browsed.stdout[-500:]
    seen = json.loads(title.group(1))
    assert seen["width"] <= width
    # Five checks in the matrix of checks, and four in that of mutants.
    assert (seen["rows"], seen["should"], seen["unclean"]) == (10, 2, 5)
    assert seen["texts"] == sum(bool(result.failure) for result in report.results)
    assert "CONSOLE" not in browsed.stderr


def pages(folder: Path, html: str) -> int:
    (folder / "page.html").write_text(html, "utf-8")
    browse(folder, f"--print-to-pdf={folder / 'page.pdf'}", (folder / "page.html").as_uri())
    return len(re.findall(rb"/Type\s*/Page\b", (folder / "page.pdf").read_bytes()))


def test_what_is_folded_is_printed(tmp_path: Path, report: Report) -> None:
    html = as_html(replace(report, parts=[]))
    assert "details::details-content" in html
    assert pages(tmp_path, html) > pages(tmp_path, html.replace("details::details-content", "details::no-such-part"))
