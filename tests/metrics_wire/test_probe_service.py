"""The probe is a right service itself: what it takes, what it keeps, and what it refuses."""

from __future__ import annotations

import threading
import time
from typing import Any

import httpx
import pytest

from contracts.metrics_wire.probe import Fault, Probe, Semantics

POINT = {"step": 1, "epoch": 1, "value": 0.5}
SEMANTICS = pytest.mark.parametrize("semantics", list(Semantics))


def put(probe: Probe, **body: Any) -> httpx.Response:
    return httpx.put(probe.task_url(), json=body)


def append(probe: Probe, **metrics: Any) -> httpx.Response:
    return httpx.post(f"{probe.task_url()}/metrics", json={"metrics": metrics})


def details(probe: Probe) -> dict[str, Any]:
    value: dict[str, Any] = httpx.get(probe.task_url()).json()["status_details"]
    return value


def test_it_is_up_when_the_block_begins_and_gone_when_it_ends() -> None:
    with Probe() as probe:
        assert httpx.get(probe.task_url()).status_code == 404
        url = probe.task_url()
    with pytest.raises(httpx.ConnectError):
        httpx.get(url)


def test_an_update_replaces_or_merges() -> None:
    for semantics, expected in ((Semantics.REPLACE, {"b": 2}), (Semantics.MERGE, {"a": 1, "b": 2})):
        with Probe(semantics) as probe:
            put(probe, status="active", status_details={"a": 1})
            put(probe, status="active", status_details={"b": 2})
            assert details(probe) == expected


@SEMANTICS
def test_a_sent_key_replaces_the_stored_value_whole(semantics: Semantics) -> None:
    with Probe(semantics) as probe:
        put(probe, status_details={"metrics": {"train_loss": [POINT], "val_loss": [POINT]}})
        put(probe, status_details={"metrics": {"train_loss": []}})
        assert details(probe) == {"metrics": {"train_loss": []}}


def test_an_omitted_field_stays() -> None:
    with Probe() as probe:
        put(probe, status="active", status_details={"a": 1}, error_details={"e": 1}, error_stack="s")
        put(probe, status="error")
        task = httpx.get(probe.task_url()).json()
        assert task == {"status": "error", "status_details": {"a": 1}, "error_details": {"e": 1}, "error_stack": "s"}


@SEMANTICS
def test_append_is_idempotent_ordered_and_shown(semantics: Semantics) -> None:
    with Probe(semantics) as probe:
        assert append(probe, train_loss=[POINT]).status_code == 404, "there is no task yet"
        put(probe, status_details={"metrics": {"train_loss": [], "val_loss": []}})
        for _ in range(2):
            assert append(probe, train_loss=[{**POINT, "step": 2}], train_lr=[POINT]).status_code == 200
        append(probe, train_loss=[POINT, {**POINT, "step": 2, "value": 9}])
        assert details(probe)["metrics"] == {
            "train_loss": [POINT, {**POINT, "step": 2, "value": 9}],
            "val_loss": [],
            "train_lr": [POINT],
        }


@SEMANTICS
def test_appended_points_survive_an_update_without_series(semantics: Semantics) -> None:
    with Probe(semantics) as probe:
        put(probe, status_details={"a": 1})
        append(probe, train_loss=[POINT])
        put(probe, status_details={"b": 1})
        assert details(probe)["metrics"] == {"train_loss": [POINT]}
        put(probe, status_details={"metrics": {"train_loss": []}})
        assert details(probe)["metrics"] == {"train_loss": []}


def test_a_service_may_drop_what_was_appended() -> None:
    with Probe(Semantics.REPLACE, keeps_appended=False) as probe:
        put(probe, status_details={"a": 1})
        append(probe, train_loss=[POINT])
        put(probe, status_details={"b": 1})
        assert details(probe) == {"b": 1}


def test_without_append_there_is_no_such_route() -> None:
    with Probe(append=False) as probe:
        put(probe, status_details={})
        assert append(probe, train_loss=[POINT]).status_code == 404


def test_concurrent_writers_of_different_keys_lose_nothing_under_merge() -> None:
    with Probe(Semantics.MERGE) as probe:
        threads = [
            threading.Thread(target=put, args=(probe,), kwargs={"status_details": {f"k{i}": i}}) for i in range(16)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert details(probe) == {f"k{i}": i for i in range(16)}


BAD_UPDATES = {
    "no JSON": b"{",
    "NaN": b'{"status_details": {"a": NaN}}',
    "Infinity": b'{"status_details": {"a": -Infinity}}',
    "overflow": b'{"status_details": {"a": 1e999}}',
    "no object": b"[]",
    "unknown field": b'{"state": "active"}',
    "unknown status": b'{"status": "done"}',
    "details": b'{"status_details": []}',
    "null": b'{"status_details": {"a": null}}',
    "nested null": b'{"status_details": {"a": {"b": [null]}}}',
    "null status": b'{"status": null}',
    "metrics": b'{"status_details": {"metrics": []}}',
    "series": b'{"status_details": {"metrics": {"train_loss": {}}}}',
    "no name": b'{"status_details": {"metrics": {"": []}}}',
    "point": b'{"status_details": {"metrics": {"train_loss": [1]}}}',
    "point without epoch": b'{"status_details": {"metrics": {"train_loss": [{"step": 1, "value": 1}]}}}',
    "negative step": b'{"status_details": {"metrics": {"a": [{"step": -1, "epoch": 1, "value": 1}]}}}',
    "bool step": b'{"status_details": {"metrics": {"a": [{"step": true, "epoch": 1, "value": 1}]}}}',
    "epoch 0": b'{"status_details": {"metrics": {"a": [{"step": 1, "epoch": 0, "value": 1}]}}}',
    "bool value": b'{"status_details": {"metrics": {"a": [{"step": 1, "epoch": 1, "value": true}]}}}',
    "huge value": b'{"status_details": {"metrics": {"a": [{"step": 1, "epoch": 1, "value": 1e999}]}}}',
    "stack": b'{"error_stack": 1}',
    "error details": b'{"error_details": "text"}',
}


@pytest.mark.parametrize("name", BAD_UPDATES)
def test_a_bad_update_is_refused_by_name_and_changes_nothing(name: str) -> None:
    with Probe() as probe:
        put(probe, status="active", status_details={"a": 1})
        before = probe.stored()
        answer = httpx.put(probe.task_url(), content=BAD_UPDATES[name])
        assert answer.status_code == 422
        assert answer.json()["message"]
        assert probe.stored() == before


@pytest.mark.parametrize("body", [b"{}", b'{"metrics": 1}', b'{"metrics": {}, "x": 1}', b'{"metrics": {"a": [null]}}'])
def test_a_bad_append_is_refused(body: bytes) -> None:
    with Probe() as probe:
        put(probe, status_details={})
        assert httpx.post(f"{probe.task_url()}/metrics", content=body).status_code == 422


@pytest.mark.parametrize("task", ["a%20b", "-x", "a" * 129, ".."])
def test_a_bad_id_is_no_task(task: str) -> None:
    with Probe() as probe:
        answer = httpx.put(probe.task_url(task), json={"status": "active"})
        assert answer.status_code == 404
        assert probe.stored(task) is None


def test_every_request_is_recorded_with_its_bytes() -> None:
    with Probe() as probe:
        httpx.put(probe.task_url(), content=b'{"status": "active"}')
        httpx.get(probe.task_url())
        assert [(each.method, each.body, each.status) for each in probe.requests] == [
            ("PUT", b'{"status": "active"}', 200),
            ("GET", b"", 200),
        ]
        assert probe.requests[0].json == {"status": "active"}
        assert probe.requests[1].json is None
        assert probe.requests[0].is_acknowledged


def test_a_body_beyond_the_limit_is_too_large() -> None:
    with Probe(max_body=100) as probe:
        assert put(probe, status_details={"a": "x" * 100}).status_code == 413
        assert probe.stored() is None


def test_a_limit_can_come_later() -> None:
    with Probe() as probe:
        assert put(probe, status_details={"a": "x" * 100}).status_code == 200
        probe.max_body = 100
        assert put(probe, status_details={"a": "x" * 100}).status_code == 413
        assert put(probe, status="completed").status_code == 200


def test_faults_strike_in_order_and_only_their_methods() -> None:
    with Probe() as probe:
        probe.faults.arm(Fault("answer", 503, methods=("PUT",), times=1), Fault("garbage", times=1))
        assert httpx.get(probe.task_url()).text.startswith("<html>")
        assert put(probe, status="active").status_code == 503
        assert put(probe, status="active").status_code == 200


def test_a_dropped_request_is_not_carried_out_and_a_lost_one_is() -> None:
    with Probe() as probe:
        probe.faults.arm(Fault("drop", times=1), Fault("lose", times=1))
        with pytest.raises(httpx.RemoteProtocolError):
            put(probe, status="active")
        assert probe.stored() is None
        with pytest.raises(httpx.RemoteProtocolError):
            put(probe, status="active")
        assert probe.stored() is not None
        assert [each.status for each in probe.requests] == [0, 0]


def test_a_delay_delays_and_can_be_disarmed() -> None:
    with Probe() as probe:
        probe.faults.arm(Fault("delay", seconds=0.2))
        began = time.monotonic()
        assert put(probe, status="active").status_code == 200
        assert time.monotonic() - began >= 0.2
        probe.faults.clear()
        assert probe.faults.strike("PUT") is None


def test_it_dies_and_comes_back_with_what_it_had() -> None:
    with Probe() as probe, httpx.Client() as client:
        client.put(probe.task_url(), json={"status": "active"})
        probe.die()
        with pytest.raises(httpx.TransportError):
            client.get(probe.task_url())
        probe.come_back()
        assert client.get(probe.task_url()).json()["status"] == "active"


def test_another_door_leads_to_the_same_tasks_until_it_is_shut() -> None:
    with Probe() as probe:
        with probe.another_door() as door:
            url = probe.task_url(base_url=door.base_url)
            httpx.put(url, json={"status": "active"})
            door.cut()
            assert httpx.put(url, json={"status": "error"}).status_code == 200
            assert len(probe.requests) == 1
        assert httpx.get(probe.task_url()).json()["status"] == "active"
        with pytest.raises(httpx.ConnectError):
            httpx.get(url)


def test_a_probe_that_watches_tells_which_points_a_write_made_vanish() -> None:
    with Probe(watch=True) as probe:
        put(probe, status_details={"metrics": {"train_loss": [POINT], "train_lr": [POINT]}})
        put(probe, status_details={"metrics": {"train_loss": [POINT]}})
        append(probe, train_loss=[{**POINT, "step": 2}])
        put(probe, status_details={"metrics": {}})
        assert [each.lost for each in probe.requests] == [(), ("train_lr@1",), (), ("train_loss@1", "train_loss@2")]


def test_a_task_can_be_preset_malformed() -> None:
    with Probe() as probe:
        probe.preset(status="active", details={"metrics": {"train_loss": "x"}})
        assert details(probe) == {"metrics": {"train_loss": "x"}}
        append(probe, train_loss=[POINT])
        assert details(probe) == {"metrics": {"train_loss": [POINT]}}
