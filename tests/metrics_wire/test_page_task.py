"""The page of a task: any number, any name, any width; with the keyboard, with a finger, and with a token."""

from __future__ import annotations

import math
import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from impl.metrics_wire.service.adapter import ServiceAdapter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from chromium import Chromium
    from task_page import TaskPage

    PageOf = Callable[[ServiceAdapter, str], TaskPage]

HOSTILE = (
    "<img src=x onerror=window.intruder=1>",
    "</script><script>window.intruder=1</script>",
    "\"'><svg onload=window.intruder=1>",
    "{{ 7 * 7 }}{% raw %}",
    "javascript:window.intruder=1",
    "__proto__",
    "constructor",
    "train_toString",
    "train_ ",
    "train_null\0byte",
    "train_\u202eright to left",
    "val_@a%2Fb%25/loss",
    "val_@@/@x/loss",
    "train_" + "long" * 126,
    "日本語 😀",
)
NUMBERS = {
    "train_huge": [1.7e308, -1.7e308, 0.0],
    "train_tiny": [5e-324, 0.0, 1e-323],
    "train_close": [1e16, 1e16 + 2, 1e16 + 4],
    "train_constant": [0.25, 0.25, 0.25],
    "train_zero": [0, 0, 0],
    "train_largest": [1.7976931348623157e308, 1.7976931348623157e308],
    "train_digits": [12345678901234567890123, -98765432109876543210],
    "train_negative": [-1e-9, -2e-9],
    "train_single": [3.5],
    "val_loss": [1e22, 2.5e-7],
}


@pytest.fixture(scope="module")
def service() -> Iterator[ServiceAdapter]:
    with ServiceAdapter("replace") as running:
        yield running


def report(page: TaskPage, metrics: dict[str, list[Any]], steps: Iterable[int] = range(1, 10_000), **sent: Any) -> None:
    """Store a task with these values at the steps."""
    points = {
        name: [{"step": step, "epoch": 1, "value": value} for step, value in zip(steps, values, strict=False)]
        for name, values in metrics.items()
    }
    body = {"status": "active", **sent, "status_details": {**sent.get("status_details", {}), "metrics": points}}
    httpx.put(page.task_url, json=body).raise_for_status()


def shows_all_that_is_stored(page: TaskPage, token: str = "") -> None:
    from task_page import stored  # noqa: PLC0415 - importable since the conftest ran

    series = stored(page.task_url, token)[1]
    assert series
    assert page.wait_for(series) == series
    assert page.misdrawn(series) == []


def test_any_number_is_shown_as_it_was_sent(service: ServiceAdapter, page_of: PageOf, browser: Chromium) -> None:
    page = page_of(service, "numbers")
    report(page, NUMBERS)
    page.open()
    shows_all_that_is_stored(page)
    assert "NaN" not in page.text()
    assert "Infinity" not in page.text()
    assert browser.run("return document.querySelector('.panels').innerHTML.search(/NaN|Infinity|undefined|null/)") == -1
    assert browser.console() == []


@pytest.mark.parametrize("steps", [[0], [5], [2**53 - 2, 2**53 - 1], [0, 10**6]], ids=str)
def test_any_steps_are_shown(service: ServiceAdapter, page_of: PageOf, browser: Chromium, steps: list[int]) -> None:
    page = page_of(service, "steps")
    report(page, {"train_loss": [0.5] * len(steps)}, steps)
    page.open(400)
    shows_all_that_is_stored(page)
    assert browser.console() == []


def test_names_and_messages_stay_text(service: ServiceAdapter, page_of: PageOf, browser: Chromium) -> None:
    page = page_of(service, "hostile")
    details = dict.fromkeys(("phase", "message", "backend", "checkpoint_path"), HOSTILE[0])
    odd = {"step": {"a": 1}, "max_steps": [1], "epoch": True, "percentage_done": HOSTILE[1], "best_val_loss": "x"}
    report(
        page,
        {name: [1.5, 2.5] for name in HOSTILE},
        status="error",
        status_details={**details, **odd},
        error_details={"message": HOSTILE[1]},
        error_stack=HOSTILE[2],
    )
    page.open()
    shows_all_that_is_stored(page)
    for text in HOSTILE[:3]:
        assert text in page.text()
    assert "val a/b%" in page.text()
    assert browser.run(
        "return [window.intruder, document.querySelectorAll('img, main script, svg[onload]').length]"
    ) == [
        None,
        0,
    ]
    page.browser.open(f"{page.url}/values")
    assert browser.run("return [window.intruder, document.querySelectorAll('img, main script, svg').length]") == [
        None,
        0,
    ]
    browser.open(f"{service.base_url}/")
    assert HOSTILE[0] in browser.wait(page.text, lambda text: HOSTILE[0] in text)
    assert browser.run("return [window.intruder, document.querySelectorAll('img').length]") == [None, 0]
    assert browser.console() == []


def test_missing_steps_break_a_curve_and_points_alone_are_marked(service: ServiceAdapter, page_of: PageOf) -> None:
    page = page_of(service, "gaps")
    steps = [*range(1, 80), 90, *range(100, 121)]
    report(page, {"train_loss": [math.sin(step / 9) for step in steps]}, steps)
    page.open()
    shows_all_that_is_stored(page)
    curve = page.drawn()["train_loss"]
    assert [len(run) for run in curve.runs] == [79, 1, 21]
    assert curve.dots == curve.runs[1]
    assert "No value: train at 80\u201389, 91\u201399" in page.text()


def test_thousands_of_points_are_all_drawn(service: ServiceAdapter, page_of: PageOf, browser: Chromium) -> None:
    from task_page import stored  # noqa: PLC0415 - importable since the conftest ran

    page = page_of(service, "long")
    names = [f"train_metric_{number}" for number in range(12)]
    report(page, {})
    for name in names:  # the bodies that this service takes are smaller than that
        points = [{"step": step, "epoch": 1, "value": math.sin(step / 50) + step % 7} for step in range(5000)]
        httpx.post(f"{page.task_url}/metrics", json={"metrics": {name: points}}).raise_for_status()
    page.open()
    browser.wait(lambda: browser.run("return document.querySelectorAll('.panel').length"), lambda count: count == 12)
    assert page.misdrawn(stored(page.task_url)[1]) == []
    frame = "const began = performance.now(); for (const each of document.querySelectorAll('.plot')) "
    move = "each.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowLeft'})); return performance.now() - began"
    assert browser.run(frame + move) < 2000


def test_a_series_that_is_gone_leaves_the_page(service: ServiceAdapter, page_of: PageOf) -> None:
    page = page_of(service, "reset")
    report(page, {"train_loss": [1.0, 2.0], "train_old": [1.0], "val_loss": [1.0]})
    page.open()
    shows_all_that_is_stored(page)
    report(page, {"train_loss": [3.0]})
    shows_all_that_is_stored(page)


def test_a_phone_shows_it_without_scrolling_aside_and_a_tap_tells_the_value(
    service: ServiceAdapter, page_of: PageOf, browser: Chromium
) -> None:
    page = page_of(service, "a-job-with-a-name-that-is-wider-than-the-screen-of-any-phone-that-there-is-0123456789")
    report(page, {"train_loss": [4.0, 2.0, 1.0], "val_loss": [5.0, 3.0], f"train_{'wide' * 40}": [1.0]})
    page.open(400)
    shows_all_that_is_stored(page)
    assert browser.run("return document.documentElement.scrollWidth") <= 400
    touch = "const plot = document.querySelector('.plot'), at = plot.getBoundingClientRect();"
    for kind in ("pointerdown", "pointerleave"):
        where = "{clientX: at.left + at.width / 2, clientY: at.top + 50, pointerType: 'touch'}"
        browser.run(f"{touch} plot.dispatchEvent(new PointerEvent('{kind}', {where}))")
    assert legend(browser) == "train 2 val 3"
    assert browser.run("return document.querySelector('.panel .at').textContent") == "step 2, epoch 1"
    browser.open(f"{service.base_url}/", 400)
    assert browser.run("return document.documentElement.scrollWidth") <= 400


def test_the_keyboard_reaches_every_value(service: ServiceAdapter, page_of: PageOf, browser: Chromium) -> None:
    page = page_of(service, "keys")
    report(page, {"train_loss": [4.0, 2.0, 1.0, 0.5], "val_loss": [5.0]})
    page.open()
    shows_all_that_is_stored(page)
    page.open()
    browser.wait(lambda: browser.run("return document.querySelector('.plot') !== null"))
    told = "return document.querySelector('.plot').getAttribute('aria-valuetext')"
    assert browser.run(told) == "step 4: train 0.5, val 5"
    while browser.run("return document.activeElement.getAttribute('role')") != "slider":
        browser.press("TAB")
    for key, text in (
        ("LEFT", "step 4: train 0.5"),
        ("LEFT", "step 3: train 1"),
        ("HOME", "step 1: train 4, val 5"),
        ("RIGHT", "step 2: train 2"),
        ("END", "step 4: train 0.5"),
        ("ESCAPE", "step 4: train 0.5, val 5"),
    ):
        browser.press(key)
        assert browser.run(told) == text
    browser.press("TAB", "ENTER")
    assert browser.wait(lambda: browser.run("return document.querySelector('details').open"))


def test_one_cursor_goes_through_all_panels(service: ServiceAdapter, page_of: PageOf, browser: Chromium) -> None:
    page = page_of(service, "cursor")
    report(page, {"train_loss": [4.0, 2.0, 1.0], "train_reward": [0.1, 0.2, 0.3]})
    page.open()
    shows_all_that_is_stored(page)
    browser.hover(".plot")
    values = "return [...document.querySelectorAll('.legend .value')].map((value) => value.textContent)"
    assert browser.run(values) == ["2", "0.2"]
    browser.hover("h1")
    assert browser.run(values) == ["1", "0.3"]


def test_light_and_dark(service: ServiceAdapter, page_of: PageOf, browser: Chromium, artefacts: Path) -> None:
    page = page_of(service, "dark")
    report(page, {"train_loss": [4.0, 2.0, 1.0]})
    grounds = {}
    for scheme in ("light", "dark"):
        page.open(400, scheme)
        shows_all_that_is_stored(page)
        grounds[scheme] = browser.run("return getComputedStyle(document.body).backgroundColor")
        browser.screenshot(artefacts / f"job-page-{scheme}.png")
    brightness = {scheme: sum(map(int, re.findall(r"\d+", ground))) / 3 for scheme, ground in grounds.items()}
    assert brightness["dark"] < 60
    assert brightness["light"] > 200


def test_a_browser_opens_the_page_with_the_token(service: ServiceAdapter, page_of: PageOf, browser: Chromium) -> None:
    guarded = service.guarded()
    page = page_of(guarded, "guarded")
    bearer = {"authorization": f"Bearer {guarded.token}"}
    points = [{"step": 1, "epoch": 1, "value": 0.125}, {"step": 2, "epoch": 1, "value": 0.0625}]
    body = {"status": "active", "status_details": {"metrics": {"train_loss": points}}}
    httpx.put(page.task_url, json=body, headers=bearer).raise_for_status()
    for path in ("/", page.url.removeprefix(guarded.base_url), "/assets/task.js", "/assets/page.css"):
        assert httpx.get(guarded.base_url + path).status_code == 401
        assert httpx.get(guarded.base_url + path, headers=bearer).status_code == 200
    page.url = page.url.replace("http://", f"http://anybody:{guarded.token}@")
    page.open()
    shows_all_that_is_stored(page, guarded.token)
    assert browser.wait(page.text, lambda text: "live" in text)
    browser.click("Jobs")
    assert "guarded" in browser.wait(page.text, lambda text: "guarded" in text)
    assert browser.console() == []


def legend(browser: Chromium) -> str:
    """What the first panel tells of its series."""
    return " ".join(str(browser.run("return document.querySelector('.legend').innerText")).split())


class Tables(HTMLParser):
    """The cells of every table, by its series."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.cells: dict[str, list[str]] = {}
        self._name = ""
        self._is_inside = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self._name = dict(attrs)["data-series"] or ""
            self.cells[self._name] = []
        self._is_inside = tag == "td" or (tag == "th" and ("scope", "row") in attrs)

    def handle_data(self, data: str) -> None:
        if self._is_inside:
            self.cells[self._name].append(data)

    def handle_endtag(self, _tag: str) -> None:
        self._is_inside = False


def test_the_values_are_there_without_a_script(service: ServiceAdapter, page_of: PageOf) -> None:
    page = page_of(service, "values")
    report(page, {**NUMBERS, **{name: [1] for name in HOSTILE if "\0" not in name}})
    answer = httpx.get(f"{page.url}/values")
    assert "<script" not in answer.text
    shown = Tables(answer.text).cells
    task = httpx.get(page.task_url).json()["status_details"]["metrics"]
    assert shown == {
        name: [str(part) for point in points for part in point.values()] or ["no points"]
        for name, points in task.items()
    }
