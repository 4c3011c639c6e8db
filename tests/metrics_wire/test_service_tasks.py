"""What the reference service keeps of a task, on SQLite and on PostgreSQL."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest
from live_service import JOBS, live, point

from impl.metrics_wire.service.settings import Rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from live_service import LiveService


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path_factory.mktemp('database') / 'jobs.sqlite'}"
    return request.getfixturevalue("postgresql").create_database()


@pytest.fixture(scope="module")
def services(database: str) -> Iterator[dict[Rule, LiveService]]:
    with live(database, rule=Rule.REPLACE) as replacing, live(database, rule=Rule.MERGE) as merging:
        yield {Rule.REPLACE: replacing, Rule.MERGE: merging}


@pytest.fixture
def replacing(services: dict[Rule, LiveService]) -> LiveService:
    return services[Rule.REPLACE].of_new_job()


@pytest.fixture
def merging(services: dict[Rule, LiveService]) -> LiveService:
    return services[Rule.MERGE].of_new_job()


def test_a_task_is_absent_then_pending_then_what_was_written(replacing: LiveService) -> None:
    assert replacing.get().status_code == 404
    assert replacing.put({})["status"] == "pending"
    written = replacing.put({"status": "error", "error_details": {"exit_status": 3, "at": None}, "error_stack": "a\0b"})
    assert replacing.put({"status_details": {"phase": "training"}})["status"] == "error"
    stored = replacing.stored()
    assert stored["status_details"] == {"phase": "training"}
    assert stored["error_details"] == written["error_details"] == {"exit_status": 3, "at": None}
    assert stored["error_stack"] == "a\0b"
    ids = {"workspace": "research", "job": replacing.job, "step": "train", "task": "main"}
    assert ids.items() <= stored.items()


def test_where_updates_replace_only_what_was_appended_outlives_one_without_series(replacing: LiveService) -> None:
    replacing.put(
        {"status_details": {"a": 1, "metrics": {"written": [point(1, 1)], "both": [point(1, 1), point(2, 2)]}}}
    )
    replacing.append({"both": [point(2, 20)], "appended": [point(3, 3)]})
    assert replacing.series() == {
        "train_loss": [],
        "val_loss": [],
        "written": [(1, 1)],
        "both": [(1, 1), (2, 20)],
        "appended": [(3, 3)],
    }
    replacing.put({"status_details": {"b": 2}})
    assert replacing.series() == {"train_loss": [], "val_loss": [], "both": [(2, 20)], "appended": [(3, 3)]}
    assert "a" not in replacing.stored()["status_details"]
    replacing.put({"status_details": {"metrics": {"new": [point(1, 1)]}}})
    assert replacing.series() == {"train_loss": [], "val_loss": [], "new": [(1, 1)]}
    replacing.put({"status_details": {}})
    assert replacing.stored()["status_details"] == {}


def test_where_updates_merge_series_go_only_by_other_series(merging: LiveService) -> None:
    merging.put({"status_details": {"a": {"x": 1}, "b": 1, "metrics": {"written": [point(1, 1)]}}})
    merging.append({"appended": [point(3, 3)]})
    merging.put({"status_details": {"a": {"y": 2}}})
    details = merging.stored()["status_details"]
    assert (details["a"], details["b"]) == ({"y": 2}, 1)
    assert merging.series() == {"train_loss": [], "val_loss": [], "written": [(1, 1)], "appended": [(3, 3)]}
    merging.put({"status_details": {"metrics": {}}})
    assert merging.series() == {"train_loss": [], "val_loss": []}


def test_the_last_point_of_a_step_wins_and_steps_ascend(replacing: LiveService) -> None:
    replacing.put({"status_details": {"metrics": {"whole": [point(2, 1), point(1, 1), point(2, 9)]}}})
    assert replacing.append({"late": [point(5, 5), point(1, 1), point(5, 6)]}) == 2
    assert replacing.append({"late": [point(3, 3, epoch=2), point(5, 7)]}) == 3
    assert replacing.series()["whole"] == [(1, 1), (2, 9)]
    assert replacing.series()["late"] == [(1, 1), (3, 3), (5, 7)]
    assert replacing.append({}) == 4
    assert replacing.send("POST", b'{"metrics": {}}', suffix="/metrics", job="nobody").status_code == 404
    assert replacing.get("nobody").status_code == 404


@pytest.mark.parametrize("value", [0, -7, 10**300, 2**53 + 1, 0.1, -0.0, 5e-324, 1.7976931348623157e308, 3.0])
def test_numbers_are_read_as_they_were_sent(replacing: LiveService, value: float) -> None:
    replacing.put({"status_details": {"now": value, "metrics": {"written": [point(1, value)]}}})
    replacing.append({"appended": [point(1, value)]})
    series = replacing.series()
    for read in (series["written"][0][1], series["appended"][0][1], replacing.stored()["status_details"]["now"]):
        assert repr(read) == repr(value)


@pytest.mark.parametrize(
    "name", ["a" * 512, "\U0001f600" * 512, 'quo"te\\', "nul\0", "\x1b[31m", "%00/..", "{}'; --", "é"]
)
def test_a_series_may_have_any_name(replacing: LiveService, name: str) -> None:
    replacing.put({"status_details": {"metrics": {name: [point(1, 1)]}}})
    replacing.append({name: [point(2, 2)]})
    assert replacing.series()[name] == [(1, 1), (2, 2)]


def test_a_reader_that_has_it_already_gets_no_task(replacing: LiveService) -> None:
    tag = replacing.send("PUT", b'{"status_details": {"metrics": {}}}').headers["etag"]
    assert replacing.get().headers["etag"] == tag
    for known in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        unchanged = replacing.get(if_none_match=known)
        assert (unchanged.status_code, unchanged.content, unchanged.headers["etag"]) == (304, b"", tag)
    replacing.append({"train_loss": [point(1, 1)]})
    changed = replacing.get(if_none_match=tag)
    assert (changed.status_code, changed.json()["revision"]) == (200, 2)


def test_the_list_tells_progress_and_the_last_written_comes_first(replacing: LiveService) -> None:
    details = {"phase": "training", "step": 29, "max_steps": 50, "percentage_done": 58}
    replacing.put({"status": "active", "status_details": details}, job="first")
    replacing.put(
        {"status_details": {"phase": 3, "step": "29", "max_steps": True, "percentage_done": [1]}}, job="second"
    )
    replacing.put({"status_details": {"phase": "\0", "step": 2**60, "percentage_done": 0.5}}, job="third")
    answer = replacing.http.get(JOBS)
    columns = ("job", "status", "phase", "train_step", "max_steps", "percentage_done")
    shown = [{name: task[name] for name in columns} for task in answer.json()["tasks"][:3]]
    done = {"phase": "training", "train_step": 29, "max_steps": 50, "percentage_done": 58}
    nothing = {"status": "pending", "phase": None, "train_step": None, "max_steps": None}
    assert shown == [
        {"job": "third", **nothing, "percentage_done": 0.5},
        {"job": "second", **nothing, "percentage_done": None},
        {"job": "first", "status": "active", **done},
    ]
    unchanged = replacing.http.get(JOBS, headers={"if-none-match": answer.headers["etag"]})
    assert unchanged.status_code == 304
    replacing.append({}, job="first")
    changed = replacing.http.get(JOBS, headers={"if-none-match": answer.headers["etag"]})
    assert [task["job"] for task in changed.json()["tasks"][:3]] == ["first", "third", "second"]
    assert [task["job"] for task in replacing.http.get(JOBS, params={"job": "third"}).json()["tasks"]] == ["third"]
    assert replacing.http.get(JOBS, params={"workspace": "other"}).json() == {"tasks": []}


def test_writers_of_one_task_lose_nothing_of_each_other(merging: LiveService) -> None:
    failures: list[BaseException] = []

    def each(write: Callable[[int], Any]) -> None:
        try:
            for number in range(25):
                write(number)
        except BaseException as error:  # noqa: BLE001 - it is raised in the test's own thread
            failures.append(error)

    writers: list[Callable[[int], Any]] = [
        lambda n: merging.append({"train_loss": [point(n, n)]}),
        lambda n: merging.append({"train_loss": [point(100 + n, n)], f"series-{n}": [point(n, n)]}),
        lambda n: merging.put({"status_details": {"phase": f"phase-{n}"}}),
        lambda n: merging.put({"status": "active", "status_details": {f"key-{n}": n}}),
    ]
    merging.put({})
    threads = [threading.Thread(target=each, args=(write,)) for write in writers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    stored = merging.stored()
    assert stored["revision"] == 101
    details = stored["status_details"]
    assert details["phase"] == "phase-24"
    assert {f"key-{n}" for n in range(25)} <= details.keys()
    assert merging.series()["train_loss"] == [(n, n) for n in range(25)] + [(100 + n, n) for n in range(25)]
    assert {f"series-{n}" for n in range(25)} <= details["metrics"].keys()
