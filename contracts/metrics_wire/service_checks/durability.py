"""90x: what was acknowledged outlives the process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contracts.metrics_wire.service_cases import Storm
from contracts.metrics_wire.service_storm import Writers
from contracts.metrics_wire.service_task import Task, point
from contracts.metrics_wire.sides import service
from contracts.metrics_wire.sources import jobs

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.metrics_wire.protocols import JobsService

_STORED = jobs("a task is stored once its update was answered with success")


@service.check("MW-901", source=_STORED, requires={"restart"}, examples=(Storm(kills=2),))
def acknowledged_writes_survive_sigkill(check: Check[JobsService], adapter: JobsService, case: Storm) -> None:
    """After SIGKILL in a storm of writes every acknowledged one is stored, and nothing is that nobody sent.

    Why: a node is drained without warning, and the curve that the loop took for stored is the only one there is.

    Usual cause: the answer is given before the commit, or the database is told not to wait for the disk.
    """
    writers = Writers(check, adapter, case.writers)
    for _ in range(case.kills):
        writers.ride_out(case.acknowledged)
        for got, acknowledged, sent, what in writers.looked_up():
            if lost := {key: value for key, value in acknowledged.items() if got.get(key) != value}:
                raise check.fail("an acknowledged write is lost", got=got, want=lost, where=what)
            if invented := {key: value for key, value in got.items() if sent.get(key) != value}:
                raise check.fail("something is stored that nobody sent", got=invented, want=sent, where=what)


@service.check("MW-902", source=_STORED, requires={"restart"})
def a_restart_changes_nothing(check: Check[JobsService], adapter: JobsService) -> None:
    """A task reads the same before and after SIGKILL and a restart, field by field, and so does one that is absent.

    Why: the page of a job that ended last month is drawn by a process that started today.

    Usual cause: a part of the task, often the points that were appended, is kept in memory beside the database.
    """
    task, absent = Task(check, adapter), Task(check, adapter)
    task.write(
        status="active",
        status_details={"phase": "training", "step": 2, "metrics": {"train_loss": [point(1, 7), point(2, 7.0)]}},
        error_details={"code": 1},
        error_stack="Traceback",
    )
    if "append" in adapter.capabilities:
        task.append({"train_loss": [point(3, 0.25)], "train_reward": [point(3, 1.5)]})
    before = task.stored
    adapter.kill()
    adapter.restart()
    task.hold(before, "a restart changed a task")
    absent.hold(None, "a restart made a task up")


@service.check("MW-903", source=_STORED, requires={"restart"}, examples=(Storm(),))
def repeating_after_sigkill_leaves_no_trace(check: Check[JobsService], adapter: JobsService, case: Storm) -> None:
    """Once the writers have repeated what was not acknowledged, everything is stored once, and in order.

    Why: a client cannot know whether the write that got no answer was carried out; it can only repeat it.

    Usual cause: the insert has no key by series and step, so the point that had been stored is stored again.
    """
    writers = Writers(check, adapter, case.writers)
    writers.ride_out(case.acknowledged)
    writers.repeat_unacknowledged()
    for got, _, sent, what in writers.looked_up():
        if list(got.items()) != list(sent.items()):
            raise check.fail("what was repeated is not stored once", got=got, want=sent, where=what)
