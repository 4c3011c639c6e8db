"""95x: what is wrong is refused by name, and changes nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from contracts.metrics_wire.bad_requests import BAD_APPENDS, BAD_IDS, BAD_UPDATES, BadRequest
from contracts.metrics_wire.service_cases import Kind
from contracts.metrics_wire.service_refusal import hold_refused
from contracts.metrics_wire.service_task import JSON, Task, is_acknowledged, point, shown
from contracts.metrics_wire.sides import service
from contracts.metrics_wire.sources import jobs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from contracts.check import Check
    from contracts.metrics_wire.protocols import JobsService

_REFUSED = jobs("a request that is wrong is answered 4xx with a JSON message that names the field, and changes nothing")
_PLACES = ("workspaces", "jobs", "steps", "tasks")
_TOO_LARGE = 413
_LENGTH_REQUIRED = 411


def written_task(check: Check[JobsService], adapter: JobsService) -> Task:
    """A task with something in every field."""
    task = Task(check, adapter)
    task.write(
        status="active",
        status_details={"phase": "training", "metrics": {"train_loss": [point(1, 0.5)]}},
        error_details={"code": 1},
        error_stack="Traceback",
    )
    return task


def _hold_bad(check: Check[JobsService], adapter: JobsService, bad: BadRequest, method: str, suffix: str = "") -> None:
    for task in (written_task(check, adapter), Task(check, adapter)):
        before = task.stored
        answer = task.send(method, bad.body, suffix=suffix, headers=bad.headers)
        # An append to a task that is absent may be refused for that alone.
        names = () if before is None and suffix else bad.names
        hold_refused(check, answer, names, sent=bad.body[:200])
        task.hold(before, "a request that was refused changed the task", sent=bad.body[:200], answer=shown(answer))


@service.check("MW-951", source=_REFUSED, examples=tuple(map(Kind, BAD_UPDATES)))
def bad_updates_are_refused(check: Check[JobsService], adapter: JobsService, case: Kind) -> None:
    """An update with a mistake is answered 4xx with a message that names the field, and changes or makes no task.

    Why: a 500 is tried again until the run ends, a silent repair charts what nobody measured, and a refusal without a
    name is a report that stays lost.

    Usual cause: Python's json takes NaN, lax models turn text into numbers, and a deep body ends in a RecursionError.
    """
    _hold_bad(check, adapter, BAD_UPDATES[case.kind], "PUT")


@service.check("MW-952", source=_REFUSED, requires={"append"}, examples=tuple(map(Kind, BAD_APPENDS)))
def bad_appends_are_refused(check: Check[JobsService], adapter: JobsService, case: Kind) -> None:
    """An append with a mistake is answered 4xx with a message that names the field, and none of its points is stored.

    Why: as for an update; and half of a request that was refused would be there twice once it is repaired.

    Usual cause: the points are stored one by one until the bad one comes.
    """
    _hold_bad(check, adapter, BAD_APPENDS[case.kind], "POST", "/metrics")


@service.check(
    "MW-953",
    source=jobs("each of the four ids of a path is a short name"),
    examples=tuple(Kind(f"{place}: {kind}") for kind in BAD_IDS for place in _PLACES),
)
def bad_ids_are_refused(check: Check[JobsService], adapter: JobsService, case: Kind) -> None:
    """An id that is none, in any place of the path, is answered 4xx with a message, whatever is asked of it.

    Why: an id ends up in a file name, a URL and a page; and a database that cannot store it answers with a 500.

    Usual cause: the path is taken apart before it is unquoted, or its parts are any text.
    """
    place, _, kind = case.kind.partition(": ")
    good = Task(check, adapter).path.split("/")
    good[good.index(place) + 1] = BAD_IDS[kind]
    task = Task(check, adapter, "/".join(good))
    body = json.dumps({"status": "active", "status_details": {"phase": "training"}}).encode()
    answers = [task.send("PUT", body, headers=JSON), task.send("GET")]
    if "append" in adapter.capabilities:
        answers.append(task.post({"train_loss": [point(1, 0.5)]}))
    for answer in answers:
        hold_refused(check, answer, (), path=task.path[:200])


@service.check(
    "MW-954",
    source=_REFUSED,
    requires={"body_limit"},
    examples=(Kind("one byte more"), Kind("many times more"), Kind("in chunks"), Kind("an append"), Kind("the limit")),
)
def oversize_bodies_are_refused(check: Check[JobsService], adapter: JobsService, case: Kind) -> None:
    """A body of more than `max_body` bytes is answered 413 and changes nothing; one of exactly so many is taken.

    Why: one client's mistake must not take the memory that every other one's reports need.

    Usual cause: only the stated length is looked at, and a body that comes in chunks states none.
    """
    if case.kind == "an append" and "append" not in adapter.capabilities:
        return
    task = written_task(check, adapter)
    before = task.stored
    length = adapter.max_body * (3 if case.kind == "many times more" else 1) + (case.kind != "the limit")
    field = "metrics" if case.kind == "an append" else "status_details"
    body = f'{{"{field}": {{}}}}'.encode().ljust(length)
    method, suffix = ("POST", "/metrics") if case.kind == "an append" else ("PUT", "")
    answer = task.send(method, _chunks(body) if case.kind == "in chunks" else body, suffix=suffix, headers=JSON)
    if case.kind == "the limit":
        task.acknowledged(answer, "a body of the size that is declared was not taken", adapter.max_body)
        return
    allowed = {_TOO_LARGE} | ({_LENGTH_REQUIRED} if case.kind == "in chunks" else set())
    if answer.status not in allowed:
        raise check.fail("a body beyond the limit is not refused", got=shown(answer), want=allowed, length=len(body))
    hold_refused(check, answer, ("body", "content", "length"), length=len(body))
    task.hold(before, "a body beyond the limit changed the task", length=len(body))


def _chunks(body: bytes, size: int = 1 << 16) -> Iterator[bytes]:
    return (body[start : start + size] for start in range(0, len(body), size))


@service.check(
    "MW-955",
    source=_REFUSED,
    examples=tuple(map(Kind, ("DELETE", "PATCH", "POST", "PUT /metrics", "GET /metrics", "GET /metrics/x", "PUT /x"))),
)
def other_methods_and_routes_are_refused(check: Check[JobsService], adapter: JobsService, case: Kind) -> None:
    """A method or a route that does not exist is answered 4xx with a message, and leaves the task.

    Why: there is nothing by which a task may be deleted, and a client that tries learns of it.

    Usual cause: the framework's own answer for a route that is missing is of another shape, or a page of HTML.
    """
    method, _, suffix = case.kind.partition(" ")
    task = written_task(check, adapter)
    before = task.stored
    body = b'{"status": "error"}' if method != "GET" else None
    answer = task.send(method, body, suffix=suffix, headers=JSON)
    hold_refused(check, answer, (), request=case.kind)
    task.hold(before, "a request without a route changed the task", request=case.kind)


@service.check(
    "MW-956",
    source=_REFUSED,
    examples=tuple(map(Kind, (r"\u0000", r"\ud800", r"a\udfffb", "\u2028", "\U0010ffff", r"\ud83d\ude00"))),
)
def odd_text_is_kept_or_refused(check: Check[JobsService], adapter: JobsService, case: Kind) -> None:
    """Text that some database or encoder cannot take is either refused by name or kept as it is, in every field.

    Why: a traceback holds whatever the failing program held, and the report of the failure must not fail of it.

    Usual cause: PostgreSQL takes no NUL and UTF-8 no lone surrogate, and both are noticed when it is too late.
    """
    text = f'"before {case.kind} after"'
    bodies = {
        "error_stack": text,
        "error_details": f'{{"message": {text}}}',
        "status_details": f'{{"message": {text}, {text}: 1, "metrics": {{{text}: []}}}}',
    }
    for field, value in bodies.items():
        task = written_task(check, adapter)
        before = task.stored
        answer = task.send("PUT", f'{{"{field}": {value}}}'.encode(), headers=JSON)
        if is_acknowledged(answer):
            expected = json.loads(value)
            kept = (task.stored or {}).get(field)
            if field == "status_details" and adapter.update_rule == "merge":
                expected = (before or {})[field] | expected
            if kept != expected:
                raise check.fail("text is stored as other text", got=kept, want=expected, field=field)
        else:
            hold_refused(check, answer, (field, "message", "metrics", "body"), field=field)
            task.hold(before, "text that was refused changed the task", field=field)
