"""What the reference service refuses: by name, in one shape, and without changing anything."""

from __future__ import annotations

import itertools
import json
import sqlite3
import tracemalloc
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from live_service import JOBS, JSON, live, point
from sqlalchemy import text

from impl.metrics_wire.service.database import open_database
from impl.metrics_wire.service.json_values import MAX_DEPTH, MAX_STEP
from impl.metrics_wire.service.schemas import MAX_NAME
from impl.metrics_wire.service.strict_json import MAX_MEMBERS, NotJsonError, parse

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import httpx
    from live_service import LiveService
    from postgresql import PostgreSQL

LIMIT = 200_000


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    with live(str(tmp_path_factory.mktemp("database") / "jobs.sqlite"), max_body=LIMIT) as running:
        running.put({"status": "active", "status_details": {"phase": "training", "metrics": {"a": [point(1, 1)]}}})
        yield running


def nested(depth: int) -> str:
    return '{"status_details": {"a": ' + "[" * depth + "]" * depth + "}}"


def of_loss(**changes: object) -> str:
    return json.dumps({"loss": [point(1, 1) | changes]})


NOT_JSON = {
    " ": "body",
    "{": "body",
    "[1,]": "body",
    '{"status": "active"} 1': "body",
    '{"status_details": {"a": NaN}}': "NaN",
    '{"status_details": {"a": -Infinity}}': "Infinity",
    '{"status": "active", "status": "error"}': "status",
    '{"error_details": {"a": {"deep": 1, "deep": 1}}}': "deep",
    '{"error_stack": "\\ud800"}': "surrogate",
    '{"error_details": {"\\uDFFF": 1}}': "surrogate",
    f'{{"status_details": {{"a": {"9" * 5000}}}}}': "digits",
    "[" * 100_000: "body",
    nested(50_000): "body",
}
WRONG_METRICS = {
    "null": "metrics",
    "[]": "metrics",
    '{"": []}': "metrics",
    f'{{"{"a" * (MAX_NAME + 1)}": []}}': "metrics",
    '{"loss": null}': "metrics.loss",
    '{"loss": {}}': "metrics.loss",
    '{"loss": [1]}': "metrics.loss.0",
    of_loss(step=-1): "metrics.loss.0.step",
    of_loss(step=1.5): "metrics.loss.0.step",
    of_loss(step="1"): "metrics.loss.0.step",
    of_loss(step=True): "metrics.loss.0.step",
    of_loss(step=MAX_STEP + 1): "metrics.loss.0.step",
    of_loss(step=1e300): "metrics.loss.0.step",
    of_loss(epoch=0): "metrics.loss.0.epoch",
    of_loss(epoch=None): "metrics.loss.0.epoch",
    of_loss(value="1"): "metrics.loss.0.value",
    of_loss(value=False): "metrics.loss.0.value",
    of_loss(value=None): "metrics.loss.0.value",
    of_loss(value=10**400): "metrics.loss.0.value",
    '{"loss": [{"step": 1, "epoch": 1, "value": 1e999}]}': "metrics.loss.0.value",
    '{"loss": [{"step": 1, "epoch": 1}]}': "metrics.loss.0.value",
    of_loss(wall_time=1): "metrics.loss.0.wall_time",
}
WRONG_UPDATES = {
    "": "body",
    "[]": "body",
    "null": "body",
    '{"state": 1}': "state",
    '{"status": null}': "status",
    '{"status": "done"}': "status",
    '{"status_details": null}': "status_details",
    '{"status_details": {"a": {"b": [0, null]}}}': "b.1",
    '{"status_details": {"a": 1e999}}': "status_details.a",
    f'{{"status_details": {{"a": {"9" * 400}}}}}': "status_details.a",
    nested(MAX_DEPTH + 1): "status_details.a",
    '{"error_details": []}': "error_details",
    '{"error_details": {"a": 1e999}}': "error_details.a",
    '{"error_stack": 1}': "error_stack",
    '{"error_stack": null}': "error_stack",
    **{
        f'{{"status_details": {{"metrics": {text}}}}}': f"status_details.{name}" for text, name in WRONG_METRICS.items()
    },
}
WRONG_APPENDS = {
    "{}": "metrics",
    '{"metrics": {}, "status": "error"}': "status",
    **{f'{{"metrics": {text}}}': name for text, name in WRONG_METRICS.items()},
}


def cases(bodies: dict[str, str]) -> list[Any]:
    return [pytest.param(body, name, id=f"{number}: {body[:50]}") for number, (body, name) in enumerate(bodies.items())]


def refused(service: LiveService, answer: httpx.Response, status: int, before: bytes) -> str:
    """The message of a refusal that has changed nothing."""
    assert answer.status_code == status, answer.text
    assert answer.json().keys() == {"message"}
    assert service.get().content == before
    return answer.json()["message"]


@pytest.mark.parametrize(("body", "named"), cases(NOT_JSON))
def test_what_is_not_strict_json_is_refused(service: LiveService, body: str, named: str) -> None:
    before = service.get().content
    assert named in refused(service, service.send("PUT", body.encode()), 400, before)
    assert named in refused(service, service.send("POST", body.encode(), suffix="/metrics"), 400, before)


@pytest.mark.parametrize(("body", "named"), cases(WRONG_UPDATES))
def test_the_wrong_field_of_an_update_is_named(service: LiveService, body: str, named: str) -> None:
    before = service.get().content
    assert named in refused(service, service.send("PUT", body.encode()), 422, before)


@pytest.mark.parametrize(("body", "named"), cases(WRONG_APPENDS))
def test_the_wrong_field_of_an_append_is_named(service: LiveService, body: str, named: str) -> None:
    before = service.get().content
    assert named in refused(service, service.send("POST", body.encode(), suffix="/metrics"), 422, before)


def test_one_bad_point_costs_the_whole_append(service: LiveService) -> None:
    before = service.get().content
    body = {"metrics": {"a": [point(7, 7)], "b": [point(1, 1), point(-1, 1)]}}
    assert service.send("POST", json.dumps(body).encode(), suffix="/metrics").status_code == 422
    assert service.get().content == before


def test_a_body_full_of_mistakes_is_refused_by_its_first(service: LiveService) -> None:
    before = service.get().content
    points = '{"metrics": {"loss": [' + "0," * 90_000 + "0]}}"
    message = refused(service, service.send("POST", points.encode(), suffix="/metrics"), 422, before)
    assert message.startswith("metrics.loss.0: ")
    assert "more" not in message
    twice = "{" + ",".join(f'"{number}":0' for number in range(15_000)) + ',"14999":0}'
    assert "'14999'" in refused(service, service.send("PUT", twice.encode()), 400, before)


def test_an_object_has_only_so_many_members() -> None:
    members = {str(number): 0 for number in range(MAX_MEMBERS)}
    assert parse(json.dumps(members).encode()) == members
    with pytest.raises(NotJsonError, match=f"more than {MAX_MEMBERS} members"):
        parse(json.dumps(members | {"one": "more"}).encode())


def test_what_nests_as_deeply_as_is_allowed_is_kept(service: LiveService) -> None:
    service.put(json.loads(nested(MAX_DEPTH)), job="deep")
    assert json.dumps(service.stored("deep")["status_details"]["a"]) == "[" * MAX_DEPTH + "]" * MAX_DEPTH
    service.put({"status_details": {"metrics": {"a": [{"step": 1.0, "epoch": 1.0, "value": 1.0}]}}}, job="deep")
    assert repr(service.series("deep")["a"]) == "[(1, 1.0)]"


@pytest.mark.parametrize("place", ["workspaces/research", "jobs/job-1", "steps/train", "tasks/main"])
@pytest.mark.parametrize("bad", ["a%00b", "..%2F..", "%2E%2E", "x" * 129, "-a", "%20", "%F0%9F%98%80", "%FF", "a%0A"])
def test_a_bad_id_is_named(service: LiveService, place: str, bad: str) -> None:
    kind = place.partition("/")[0]
    path = service.path().replace(place, f"{kind}/{bad}")
    for answer in (service.http.get(path), service.http.put(path, json={}), service.http.post(path, json={})):
        assert answer.status_code in ({404, 405} if "%2F" in bad else {422, 405})
        assert answer.json().keys() == {"message"}
        if answer.status_code == 422:
            assert answer.json()["message"].startswith(f"{kind.removesuffix('s')}: ")
    assert all("x" * 129 not in task.values() for task in service.http.get(JOBS).json()["tasks"])


@pytest.mark.parametrize("chunks", [1, 7], ids=["declared", "chunked"])
def test_a_body_may_have_as_many_bytes_as_the_limit_and_no_more(service: LiveService, chunks: int) -> None:
    def sent(size: int) -> list[bytes]:
        body = b'{"error_stack": "' + b"x" * (size - 19) + b'"}'
        assert len(body) == size
        return _cut(body, chunks)

    content = sent(LIMIT)
    taken = service.send("PUT", content[0] if chunks == 1 else iter(content), job="large")
    assert taken.status_code == 200
    before = service.get("large").content
    for size in (LIMIT + 1, 3 * LIMIT, 12 * LIMIT):
        content = sent(size)
        answer = service.send("PUT", content[0] if chunks == 1 else iter(content), job="large")
        assert answer.status_code == 413
        assert answer.json() == {"message": f"body: more than {LIMIT} bytes"}
    assert service.get("large").content == before


@pytest.mark.parametrize("declared", [{"content-length": str(200 * LIMIT)}, {}], ids=["declared", "chunked"])
def test_a_body_that_is_too_large_is_not_kept(service: LiveService, declared: dict[str, str]) -> None:
    piece = b" " * LIMIT
    headers = JSON | declared
    tracemalloc.start()
    answer = service.send("PUT", itertools.repeat(piece, 200), job="large", headers=headers)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert answer.status_code == 413
    assert most < 40 * LIMIT


def _cut(body: bytes, chunks: int) -> list[bytes]:
    size = -(-len(body) // chunks)
    return [body[start : start + size] for start in range(0, len(body), size)]


@pytest.mark.parametrize("media_type", ["text/plain", "application/x-www-form-urlencoded", "", "application/json-x"])
def test_a_body_of_another_type_is_refused(service: LiveService, media_type: str) -> None:
    before = service.get().content
    headers = {"content-type": media_type} if media_type else {}
    answer = service.send(
        "POST", b'{"metrics": {"a": [{"step": 2, "epoch": 1, "value": 2}]}}', suffix="/metrics", headers=headers
    )
    assert answer.status_code == 415
    assert "content-type" in answer.json()["message"]
    assert service.get().content == before


def test_every_other_method_and_route_is_refused_in_the_same_shape(service: LiveService) -> None:
    refused = [
        (service.http.delete(service.path()), 405),
        (service.http.patch(service.path(), json={}), 405),
        (service.http.get(f"{service.path()}/metrics"), 405),
        (service.http.post(JOBS, json={}), 405),
        (service.http.get("/apis/jobs/v1/jobs"), 404),
        (service.http.get(f"{service.path()}/"), 404),
        (service.http.get(JOBS, params={"task": "main"}), 422),
        (service.http.get(JOBS, params={"job": "\0"}), 422),
        (service.http.request("BREW", "/healthz"), 405),
    ]
    for answer, status in refused:
        assert (answer.status_code, answer.json().keys()) == (status, {"message"}), answer.request
        assert status != 405 or answer.headers["allow"]


def test_a_database_that_fails_is_not_the_clients_fault(tmp_path: Path) -> None:
    file = tmp_path / "jobs.sqlite"
    with live(str(file)) as service:
        service.put({})
        rename(file, "tasks", "hidden")
        for answer in (service.get(), service.send("PUT", b"{}"), service.http.get(JOBS)):
            assert (answer.status_code, answer.json().keys()) == (503, {"message"})
        rename(file, "hidden", "tasks")
        assert service.put({})["revision"] == 2


def test_a_database_that_only_reads_is_not_the_clients_fault(postgresql: PostgreSQL) -> None:
    database = postgresql.create_database()
    engine = open_database(database)
    with engine.begin() as connection:
        connection.execute(text(f"ALTER DATABASE {engine.url.database} SET default_transaction_read_only = on"))
    engine.dispose()
    with live(database) as service:
        answer = service.send("PUT", b"{}")
        assert (answer.status_code, answer.json().keys()) == (503, {"message"})
        assert service.get().status_code == 404


def rename(file: Path, old: str, new: str) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute(f"ALTER TABLE {old} RENAME TO {new}")
