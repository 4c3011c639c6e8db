"""The list of jobs, and what every page has in common: where it loads from, and what is not there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import pytest

from impl.metrics_wire.service.adapter import ServiceAdapter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from chromium import Chromium
    from task_page import TaskPage

    PageOf = Callable[[ServiceAdapter, str], TaskPage]


@pytest.fixture(scope="module")
def service() -> Iterator[ServiceAdapter]:
    with ServiceAdapter("merge") as running:
        yield running


def rows(browser: Chromium) -> list[list[str]]:
    """The texts of the list, row by row."""
    return [
        [" ".join(cell.split()) for cell in row]
        for row in browser.run(
            "return [...document.querySelectorAll('tbody tr')].map(r => [...r.cells].map(c => c.innerText))"
        )
    ]


def test_the_list_follows_the_jobs(
    service: ServiceAdapter, browser: Chromium, page_of: PageOf, artefacts: Path
) -> None:
    browser.open(f"{service.base_url}/")
    assert "No job has reported yet" in browser.run("return document.body.innerText")
    first, second = page_of(service, "first"), page_of(service, "second")
    details = {"phase": "training", "step": 5, "max_steps": 20, "percentage_done": 25}
    httpx.put(first.task_url, json={"status": "active", "status_details": details}).raise_for_status()
    place = "research / train / main"
    wanted = [[f"first {place}", "active", "training", "step 5 of 20", "just now"]]
    assert browser.wait(lambda: rows(browser), lambda seen: seen == wanted) == wanted
    httpx.put(second.task_url, json={"status": "pending"}).raise_for_status()
    end = {"status": "completed", "status_details": {"phase": "completed", "step": 20, "percentage_done": 100}}
    httpx.put(first.task_url, json=end).raise_for_status()
    wanted = [
        [f"first {place}", "completed", "completed", "step 20 of 20", "just now"],
        [f"second {place}", "pending", "", "", "just now"],
    ]
    assert browser.wait(lambda: rows(browser), lambda seen: seen == wanted) == wanted
    assert browser.run("return document.querySelector('progress').value") == 100
    for width in (400, 1200):
        browser.open(f"{service.base_url}/", width)
        browser.screenshot(artefacts / f"jobs-{width}.png")
    browser.click("first")
    assert browser.wait(browser.url) == first.url
    assert browser.console() == []
    assert {url for url in browser.requested() if not url.startswith(service.base_url)} == set()


def test_the_tasks_of_a_job_lead_to_each_other(service: ServiceAdapter, browser: Chromium, page_of: PageOf) -> None:
    page = page_of(service, "two-tasks")
    for url in (page.task_url, page.task_url.replace("tasks/main", "tasks/other")):
        httpx.put(url, json={"status": "active"}).raise_for_status()
    page.open()
    browser.click("train / other")
    assert browser.wait(lambda: browser.url().endswith("tasks/other"))


def test_pages_load_nothing_from_elsewhere_and_say_so(service: ServiceAdapter, page_of: PageOf) -> None:
    page = page_of(service, "policy")
    httpx.put(page.task_url, json={"status": "active"}).raise_for_status()
    missing = page.url.replace("policy", "missing")
    for url in (f"{service.base_url}/", page.url, f"{page.url}/values", missing, f"{service.base_url}/assets/task.js"):
        answer = httpx.get(url)
        policy = dict(each.split(" ", 1) for each in answer.headers["content-security-policy"].split("; "))
        assert policy.pop("default-src") == "'none'"
        assert set(policy.values()) == {"'self'", "'none'"}
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "://" not in answer.text.replace("http://www.w3.org/2000/svg", "")
        again = httpx.get(url, headers={"if-none-match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
    assert httpx.get(f"{service.base_url}/assets/task.js").headers["content-type"].startswith("text/javascript")


def test_what_is_not_there_is_a_404(service: ServiceAdapter, page_of: PageOf) -> None:
    page = page_of(service, "nobody")
    for url in (page.url, f"{page.url}/values"):
        answer = httpx.get(url)
        assert answer.status_code == 404
        assert "Nothing was reported for research / nobody / train / main yet" in answer.text
    for path in ("/assets/page.py", "/assets/..%2Fpage.py", "/assets/../page.py", "/assets/"):
        assert httpx.get(service.base_url + path).status_code == 404
    assert httpx.get(page.url.replace("nobody", "%3Cscript%3E")).status_code == 422
