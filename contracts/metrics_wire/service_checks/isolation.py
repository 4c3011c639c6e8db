"""98x: one task is not another."""

from __future__ import annotations

import uuid
from dataclasses import asdict
from typing import TYPE_CHECKING

from contracts.metrics_wire import service_strategies
from contracts.metrics_wire.service_cases import Ids, Kind, Pair
from contracts.metrics_wire.service_refusal import hold_refused
from contracts.metrics_wire.service_task import Task, is_acknowledged, point, task_path
from contracts.metrics_wire.sides import service
from contracts.metrics_wire.sources import jobs

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.metrics_wire.protocols import JobsService

_PATH = jobs("workspace, job, step and task together name a task")


@service.check("MW-981", source=_PATH, examples=tuple(map(Kind, ("task", "step", "job", "workspace"))))
def tasks_do_not_share_anything(check: Check[JobsService], adapter: JobsService, case: Kind) -> None:
    """Tasks that differ in one id have nothing in common: not the series, the status, or the error.

    Why: two jobs run the same step, and a curve of one under the name of the other is believed.

    Usual cause: a key of the table that leaves out one of the four ids.
    """
    job = f"job-{uuid.uuid4().hex[:12]}"
    same = {"workspace": "default", "job": job, "step": "train", "task": "training"}
    one = Task(check, adapter, task_path(**same))
    other = Task(check, adapter, task_path(**(same | {case.kind: f"{same[case.kind]}-2"})))
    one.write(status="active", status_details={"phase": "training", "metrics": {"train_loss": [point(1, 0.5)]}})
    other.hold(None, "a task appeared with another", differs=case.kind)
    other.write(status="error", status_details={"metrics": {"train_loss": [point(1, 9)]}}, error_stack="other's")
    if "append" in adapter.capabilities:
        one.append({"train_loss": [point(2, 0.25)]})
        other.append({"train_loss": [point(2, 8), point(3, 7)], "train_lr": [point(1, 1)]})
    else:
        one.write(status_details={"phase": "training", "metrics": {"train_loss": [point(1, 0.5), point(2, 0.25)]}})
    want = {
        "status": "active",
        "status_details": {"phase": "training", "metrics": {"train_loss": [point(1, 0.5), point(2, 0.25)]}},
        "error_details": None,
        "error_stack": None,
    }
    one.hold(want, "a task was changed by another's writes", differs=case.kind)


#: Ids that a path has to quote, that a file system or a collation takes for one, or that a template would change.
_ALIKE = (
    Pair(Ids(task="Train"), Ids(task="train")),
    Pair(Ids(task="a b"), Ids(task="a+b")),
    Pair(Ids(task="a%2Fb"), Ids(task="a/b")),
    Pair(Ids(job="é"), Ids(job="e\u0301")),
    Pair(Ids(step="a."), Ids(step="a")),
    Pair(Ids(workspace="a?b=1"), Ids(workspace="a")),
    Pair(Ids(task="a;b"), Ids(task="a#b")),
    Pair(Ids(task="x" * 128), Ids(task="x" * 127)),
)


@service.check("MW-982", source=_PATH, examples=_ALIKE, cases=service_strategies.pairs)
def ids_are_taken_as_they_are_or_refused(check: Check[JobsService], adapter: JobsService, case: Pair) -> None:
    """Two ids that differ are two tasks, however alike they look once quoted; an id that is not taken is refused.

    Why: a validation set gives its name to a step, and a name may have anything in it.

    Usual cause: a path that is unquoted twice or not at all, or a database that compares without case or accents.
    """
    job = f"job-{uuid.uuid4().hex[:12]}"
    written = []
    for number, ids in enumerate((case.one, case.other)):
        task = Task(check, adapter, task_path(**(asdict(ids) | {"job": f"{job}{ids.job}"})))
        details = {"phase": f"{number}", "metrics": {"train_loss": [point(number, number)]}}
        answer = task.put({"status": "active", "status_details": details})
        if is_acknowledged(answer):
            written.append((task, details))
        else:
            hold_refused(check, answer, (), path=task.path)
    for task, details in written:
        task.hold({"status_details": details}, "a task reads as another, or not at all", path=task.path)


@service.check("MW-983", source=jobs("a quoted letter of a path is that letter"))
def quoting_is_no_difference(check: Check[JobsService], adapter: JobsService) -> None:
    """A path whose letters are quoted without need leads to the same task, or is refused.

    Why: clients quote differently, and the runner and the driver need not use the same one.

    Usual cause: the path is compared as it came.
    """
    task = Task(check, adapter)
    task.write(status="active", status_details={"phase": "training"})
    quoted = Task(check, adapter, task.path.replace("/tasks/training", "/tasks/%74r%61ining"))
    answer = quoted.put({"status": "completed", "status_details": {"phase": "completed"}})
    if is_acknowledged(answer):
        task.hold({"status": "completed", "status_details": {"phase": "completed"}}, "quoting made another task")
    else:
        hold_refused(check, answer, (), path=quoted.path)
