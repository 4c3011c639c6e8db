"""91x: what an update does to the stored task."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from contracts.metrics_wire import service_strategies
from contracts.metrics_wire.bad_requests import STATUSES
from contracts.metrics_wire.service_cases import Updates
from contracts.metrics_wire.service_model import StoredTask
from contracts.metrics_wire.service_refusal import hold_refused
from contracts.metrics_wire.service_task import Task, is_acknowledged, point, shown
from contracts.metrics_wire.sides import service
from contracts.metrics_wire.sources import jobs

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.metrics_wire.protocols import JobsService


def _details(*each: dict[str, Any]) -> Updates:
    return Updates(tuple(json.dumps({"status_details": details}) for details in each))


def _updates(*each: dict[str, Any]) -> Updates:
    return Updates(tuple(map(json.dumps, each)))


_TWO_KEYS = _details({"phase": "training", "step": 1}, {"phase": "validation", "epoch": 1})
NESTED = _details({"a": {"x": 1, "y": 2}}, {"a": {"z": 3}})
_SERIES = _details(
    {"metrics": {"train_loss": [point(1, 0.5)], "val_loss": []}},
    {"metrics": {"train_loss": [point(2, 0.25)]}},
)
_EMPTIED = _details({"phase": "training"}, {})

FULL = {"status": "active", "status_details": {"phase": "a"}, "error_details": {"e": 1}, "error_stack": "s"}
STATUS_OMITTED = _updates(FULL, {"status_details": {"phase": "b"}})
DETAILS_OMITTED = _updates(FULL, {"status": "paused"})
ERROR_REPLACED = _updates(FULL, {"error_details": {"f": 2}}, {"error_stack": "t"})


@service.check(
    "MW-911",
    source=jobs(
        "known services differ in whether an update replaces the stored details or merges their top-level keys"
    ),
    examples=(_TWO_KEYS, NESTED, _SERIES, _EMPTIED),
    cases=service_strategies.detail_updates,
)
def details_are_updated_as_declared(check: Check[JobsService], adapter: JobsService, case: Updates) -> None:
    """An update replaces the stored `status_details`, or merges their top-level keys, exactly as the service declares.

    Why: a client that trusts in a merge loses every curve where its last report replaces them.

    Usual cause: a merge that goes into nested objects, or one that the default of the framework's models switches on.
    """
    _hold_to_the_model(check, adapter, case)


@service.check(
    "MW-912",
    source=jobs("an update whose status is omitted is no statement about the status"),
    examples=(STATUS_OMITTED, DETAILS_OMITTED, ERROR_REPLACED),
    cases=service_strategies.partial_updates,
)
def omitted_fields_stay(check: Check[JobsService], adapter: JobsService, case: Updates) -> None:
    """A field that an update omits stays as it is stored, the status above all; one that it has is replaced.

    Why: a report of progress that sends the task back to pending makes the platform start it anew.

    Usual cause: the model of the request has a default for the status, and the default is stored.
    """
    _hold_to_the_model(check, adapter, case)


def _hold_to_the_model(check: Check[JobsService], adapter: JobsService, case: Updates) -> None:
    task, model = Task(check, adapter), StoredTask(adapter)
    for number, body in enumerate(map(json.loads, case.bodies), 1):
        task.write(**body)
        model.update(body)
        task.hold(model.fields, f"update {number} did not do what is declared", rule=adapter.update_rule)


@service.check(
    "MW-913",
    source=jobs("a task that nobody has written is answered 404"),
)
def an_unwritten_task_is_absent(check: Check[JobsService], adapter: JobsService) -> None:
    """A task that nobody has written is answered 404 with a message, and to read it does not make it.

    Why: a process that takes over a task tells a new one by its 404, and from a failed read by nothing else.

    Usual cause: an empty task is answered 200, or an append to a task that is not there fails within.
    """
    task = Task(check, adapter)
    for _ in range(2):
        answer = task.send("GET")
        if answer.status != 404:  # noqa: PLR2004 - the one status that says so
            raise check.fail("a task that nobody has written is not absent", got=shown(answer), want=404)
        hold_refused(check, answer, ())
    if "append" not in adapter.capabilities:
        return
    answer = task.post({"train_loss": [point(1, 0.5)]})
    if is_acknowledged(answer):
        want: dict[int, float] = {1: 0.5}
        if task.steps("train_loss") != want:
            raise check.fail("an append to no task is acknowledged and lost", got=task.stored, want=want)
    elif answer.status != 404:  # noqa: PLR2004 - as above
        raise check.fail("an append to no task is neither taken nor answered 404", got=shown(answer), want=404)
    else:
        task.hold(None, "an append that was refused made a task")


@service.check(
    "MW-914",
    source=jobs("the status is one of ten; a new task whose status is omitted is pending"),
    examples=("active", "", *sorted(STATUSES - {"active"})),
)
def every_status_is_stored(check: Check[JobsService], adapter: JobsService, case: str) -> None:
    """Each status that exists is stored as it was sent; a new task whose status was omitted has one of them.

    Why: a status that is refused is a report that is lost, with the curves that it carried.

    Usual cause: the list was copied from another version of the platform.
    """
    task = Task(check, adapter)
    task.write(**({"status": case} if case else {}), status_details={"phase": "training"})
    got = (task.stored or {}).get("status")
    if got not in ({case} if case else STATUSES):
        raise check.fail("a status is stored as another", got=got, want=case or sorted(STATUSES))
