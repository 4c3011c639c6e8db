"""93x: points are appended once, in order, and shown among the stored series."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from contracts.metrics_wire import service_strategies
from contracts.metrics_wire.service_cases import Batches, Sent
from contracts.metrics_wire.service_model import upserted
from contracts.metrics_wire.service_task import Task, point
from contracts.metrics_wire.sides import service
from contracts.metrics_wire.sources import jobs

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.metrics_wire.protocols import JobsService

_APPEND = jobs("points are upserted by series and step, ascending, and the last value of a step wins")

IN_ORDER = Batches(((Sent("train_loss", 1), Sent("train_lr", 1)), (Sent("train_loss", 2, 1, "1"),)))
OUT_OF_ORDER = Batches(((Sent("train_loss", 30),), (Sent("train_loss", 4), Sent("train_loss", 2)), (Sent("a", 1),)))
ANEW = Batches(((Sent("train_loss", 5, 1, "0.5"),), (Sent("train_loss", 5, 2, "7"),)))


def as_metrics(batch: tuple[Sent, ...]) -> dict[str, list[dict[str, Any]]]:
    """The series of one request."""
    metrics: dict[str, list[dict[str, Any]]] = {}
    for each in batch:
        metrics.setdefault(each.series, []).append(point(each.step, json.loads(each.value), each.epoch))
    return metrics


@service.check(
    "MW-931",
    source=_APPEND,
    requires={"append"},
    examples=(IN_ORDER, OUT_OF_ORDER, ANEW),
    cases=service_strategies.batches,
)
def series_are_ordered_and_the_last_value_wins(check: Check[JobsService], adapter: JobsService, case: Batches) -> None:
    """Whatever the order of the appends, a series ascends by step and has one point a step, the last that was sent.

    Why: the chart prints the last element as the final value, and draws a line in the order of the array.

    Usual cause: the points are shown in the order of their arrival, or the first of a step is kept.
    """
    task = Task(check, adapter)
    task.write(status="active", status_details={"phase": "training"})
    want: dict[str, list[dict[str, Any]]] = {}
    for batch in case.batches:
        metrics = as_metrics(batch)
        task.append(metrics)
        want |= {name: upserted(want.get(name, []), points) for name, points in metrics.items()}
        task.hold_series(want, "appended points are not stored in order, once a step")


@service.check(
    "MW-932",
    source=_APPEND,
    requires={"append"},
    examples=(IN_ORDER, OUT_OF_ORDER),
    cases=service_strategies.batches,
)
def repeating_an_append_changes_nothing(check: Check[JobsService], adapter: JobsService, case: Batches) -> None:
    """An append that is sent once more leaves the task as it was.

    Why: a client that got no answer sends it again, whether it was carried out or not.

    Usual cause: an insert without a key, or a counter that each request raises.
    """
    task = Task(check, adapter)
    task.write(status="active", status_details={"phase": "training"})
    for batch in case.batches:
        task.append(as_metrics(batch))
        before = task.stored
        task.append(as_metrics(batch))
        task.hold(before, "a repeated append changed the task", repeated=as_metrics(batch))


@service.check("MW-933", source=_APPEND, requires={"append"})
def appended_points_join_the_series_that_were_sent(check: Check[JobsService], adapter: JobsService) -> None:
    """Appended points stand in `status_details.metrics` among those of an update, and replace theirs step by step.

    Why: a run begins with whole series and goes on with appends; the chart knows one place to look.

    Usual cause: appended points are kept in a table of their own, and the answer has one of the two.
    """
    task = Task(check, adapter)
    sent = {"train_loss": [point(1, 0.5), point(3, 0.25)], "val_loss": []}
    task.write(status="active", status_details={"phase": "training", "metrics": sent})
    task.append({"train_loss": [point(2, 7), point(3, 0.125, 2)], "train_lr": [point(3, 1e-5)]})
    want = {
        "train_loss": [point(1, 0.5), point(2, 7), point(3, 0.125, 2)],
        "train_lr": [point(3, 1e-5)],
        "val_loss": [],
    }
    task.hold_series(want, "appended points did not join the series")


@service.check("MW-934", source=_APPEND, requires={"append"})
def an_append_leaves_the_rest_alone(check: Check[JobsService], adapter: JobsService) -> None:
    """An append changes nothing but the series that it names.

    Why: the runner's status and the driver's phase are not the business of one who adds a point.

    Usual cause: the append is built on the update, and its defaults are stored too.
    """
    task = Task(check, adapter)
    task.write(
        status="active",
        status_details={"phase": "training", "step": 1, "metrics": {"val_loss": [point(1, 2)]}},
        error_details={"code": 1},
        error_stack="Traceback",
    )
    before = task.stored or {}
    task.append({"train_loss": [point(1, 0.5)]})
    details = before["status_details"] | {"metrics": {"val_loss": [point(1, 2)], "train_loss": [point(1, 0.5)]}}
    task.hold(before | {"status_details": details}, "an append changed something else")


@service.check("MW-935", source=_APPEND, requires={"append"})
def appended_points_outlive_updates_as_declared(check: Check[JobsService], adapter: JobsService) -> None:
    """An update without series leaves the appended points, unless the service declares otherwise; one with series wins.

    Why: the runner's last reports carry no series, and without a word of the service nobody knows what they cost.

    Usual cause: replacing the details deletes what was never part of them.
    """
    task = Task(check, adapter)
    task.write(status="active", status_details={"phase": "training"})
    task.append({"train_loss": [point(1, 0.5), point(2, 0.25)]})
    task.write(status="active", status_details={"phase": "processing_checkpoint"})
    survive = adapter.keeps_appended or adapter.update_rule == "merge"
    want = {"train_loss": [point(1, 0.5), point(2, 0.25)]} if survive else {}
    task.hold_series(want, "an update without series did not treat the appended as declared")
    task.write(status_details={"metrics": {"train_loss": [point(9, 1)]}})
    task.hold_series({"train_loss": [point(9, 1)]}, "series that an update sends are not stored as sent")
