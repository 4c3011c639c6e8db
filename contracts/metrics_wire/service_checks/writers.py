"""92x: the runner and the driver write one task, and neither costs the other anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contracts.metrics_wire import service_strategies
from contracts.metrics_wire.service_cases import Interleaving, Race, Turn
from contracts.metrics_wire.service_race import at_once
from contracts.metrics_wire.service_task import Task, point, spelled
from contracts.metrics_wire.service_writers import PHASES, created_task, outcomes, record, sent
from contracts.metrics_wire.sides import service
from contracts.metrics_wire.sources import jobs

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.metrics_wire.protocols import JobsService, ServiceAnswer

_TWO = jobs("the runner writes status and phase, and the driver, its subprocess, the series of the same task")

#: A run's course: the driver's series, then the last three reports of the runner.
COURSE = Interleaving(
    (
        Turn("runner", "phase", 0),
        Turn("driver", "series", 1),
        Turn("driver", "points", 2),
        Turn("runner", "phase", 1),
        Turn("driver", "points", 3),
        Turn("runner", "phase", 2),
        Turn("runner", "status", 2),
    )
)
FAILURE = Interleaving((Turn("driver", "series", 2), Turn("runner", "error", 1), Turn("driver", "points", 3)))
#: The driver states whole details, and the runner in between only its status.
BETWEEN = Interleaving((Turn("driver", "series", 1), Turn("runner", "status", 1), Turn("driver", "series", 2)))


@service.check("MW-921", source=_TWO, examples=(COURSE, FAILURE, BETWEEN), cases=service_strategies.interleavings)
def interleaved_writers_lose_nothing(check: Check[JobsService], adapter: JobsService, case: Interleaving) -> None:
    """However the writes of the runner and the driver follow each other, the task holds what they declare together.

    Why: the two know nothing of each other, and every order of their reports happens.

    Usual cause: a row that one writer has read is written back whole, or a cache of the task outlives a write.
    """
    task, model = created_task(check, adapter)
    for number, turn in enumerate(case.turns, 1):
        task.acknowledged(sent(task, turn), "a write was not taken", turn)
        record(model, turn)
        task.hold(model.fields, f"after write {number} the task is not what was written", rule=adapter.update_rule)


#: Both state parts of the same row, and neither the other's.
BOTH = Interleaving(
    (Turn("runner", "error", 1), Turn("driver", "series", 1), Turn("runner", "error", 2), Turn("driver", "series", 2))
)


@service.check(
    "MW-926",
    source=_TWO,
    examples=(BOTH, COURSE, FAILURE),
    cases=service_strategies.interleavings,
)
def writers_at_once_store_what_some_order_stores(
    check: Check[JobsService], adapter: JobsService, case: Interleaving
) -> None:
    """What the runner and the driver write at the same time ends as if each write had come after or before the other's.

    Why: the two know nothing of each other, and a mixture that no order explains is a report that nobody made.

    Usual cause: a write that is read, changed and written back, or one of several statements without a transaction.
    """
    task, _ = created_task(check, adapter)
    parts = [tuple(turn for turn in case.turns if turn.writer == writer) for writer in ("runner", "driver")]
    longest = max(map(len, parts))

    def write(writer: int, number: int) -> ServiceAnswer:
        return sent(task, parts[writer][number]) if number < len(parts[writer]) else task.send("GET")

    at_once(check, Race(len(parts), longest), write)
    ends = outcomes(adapter, *parts)
    got = {field: (task.stored or {}).get(field) for field in ends[0]}
    if spelled(got) not in {spelled(end) for end in ends}:
        raise check.fail("no order of the writes ends in what is stored", got=got, want=ends, rule=adapter.update_rule)


@service.check("MW-922", source=_TWO, examples=(Race(2, 8), Race(4, 4)))
def concurrent_writers_of_other_fields_lose_nothing(
    check: Check[JobsService], adapter: JobsService, case: Race
) -> None:
    """Writers that write different parts of one task at the same time all find their last write stored.

    Why: the runner's "completed" and the driver's last series are written within milliseconds.

    Usual cause: read, change and write back without a transaction, so that the later one restores what it had read.
    """
    task = Task(check, adapter)
    task.write(status="created", status_details={"phase": PHASES[0]}, error_details={}, error_stack="")
    merges = adapter.update_rule == "merge"

    def body(writer: int, number: int) -> dict[str, Any]:
        if writer == 0:
            return {"status_details": {"driver": number}}
        if writer == 1:
            return {"status": "active", "error_details": {"number": number}}
        return {"status_details": {f"writer {writer}": number}} if merges else {"error_stack": f"{number}"}

    at_once(check, case, lambda writer, number: task.put(body(writer, number)))
    stored = task.stored or {}
    last = case.writes - 1
    want: dict[str, Any] = {"status": "active", "error_details": {"number": last}}
    want["status_details"] = {"driver": last}
    others = range(2, case.writers)
    if merges:
        want["status_details"] = {"phase": PHASES[0], "driver": last} | {f"writer {each}": last for each in others}
    elif others:
        want["error_stack"] = f"{last}"
    got = {field: stored.get(field) for field in want}
    if spelled(got) != spelled(want):
        raise check.fail("a concurrent writer's last write is lost", got=got, want=want, rule=adapter.update_rule)


@service.check("MW-923", source=_TWO, requires={"append"}, examples=(Race(2, 8), Race(4, 6)))
def concurrent_appends_lose_nothing(check: Check[JobsService], adapter: JobsService, case: Race) -> None:
    """Points that several writers append at the same time are all stored, and so is the status written meanwhile.

    Why: the monitor's thread, the validation and the training append to the same task.

    Usual cause: the series is read, lengthened and written back as one blob.
    """
    task = Task(check, adapter)
    task.write(status="created", status_details={"metrics": {"train_loss": []}})

    def write(writer: int, number: int) -> Any:
        if number % 4 == 3 and writer == 0:  # noqa: PLR2004 - now and then
            return task.put({"status": "active"})
        mine = point(number * case.writers + writer, number)
        return task.post({"train_loss": [mine], f"train_{writer}": [mine]})

    at_once(check, case, write)
    wrote = [
        (writer, number * case.writers + writer, number)
        for number in range(case.writes)
        for writer in range(case.writers)
        if number % 4 != 3 or writer != 0  # noqa: PLR2004 - as above
    ]
    want = {"train_loss": [point(step, value) for _, step, value in wrote]}
    for writer in range(case.writers):
        want[f"train_{writer}"] = [point(step, value) for each, step, value in wrote if each == writer]
    task.hold_series(want, "points that were appended at the same time are lost")
    if case.writes > 3:  # noqa: PLR2004 - as above
        task.hold({"status": "active"}, "a status that was written between appends is lost")


@service.check("MW-924", source=_TWO, examples=(Race(4, 1), Race(8, 1)))
def concurrent_first_writes_make_one_task(check: Check[JobsService], adapter: JobsService, case: Race) -> None:
    """The first writes of a task may come at the same time: each is acknowledged, and one of them, or all, is stored.

    Why: the runner and the driver start together, and neither knows who is first.

    Usual cause: both find no row, both insert one, and the second is answered 500.
    """
    task = Task(check, adapter)
    at_once(check, case, lambda writer, _: task.put({"status": "active", "status_details": {f"writer {writer}": 1}}))
    got = task.details
    every: dict[str, Any] = {f"writer {writer}": 1 for writer in range(case.writers)}
    wanted = [every] if adapter.update_rule == "merge" else [{name: 1} for name in every]
    if got not in wanted:
        raise check.fail("first writes that came at once are not stored as declared", got=got, want=wanted)


@service.check("MW-925", source=_TWO, examples=(Race(2, 8),))
def a_reader_sees_whole_updates(check: Check[JobsService], adapter: JobsService, case: Race) -> None:
    """Who reads between two updates sees one of them, and never a part of one beside a part of the other.

    Why: a chart that reads the step of one report and the series of another draws a point that was never there.

    Usual cause: the details, the status and the points are written by statements that no transaction joins.
    """
    task = Task(check, adapter)
    first: dict[str, Any] = {"a": -1, "metrics": {"train_loss": [point(0, -1)]}, "b": -1}
    task.write(status="active", status_details=first, error_details={"c": -1}, error_stack="-1")
    seen: list[dict[str, Any]] = []

    def write_or_read(writer: int, number: int) -> Any:
        if writer == 0:
            details = {"a": number, "metrics": {"train_loss": [point(0, number)]}, "b": number}
            return task.put({"status_details": details, "error_details": {"c": number}, "error_stack": f"{number}"})
        answer = task.send("GET")
        seen.append(task.parsed(answer) or {})
        return answer

    at_once(check, case, write_or_read)
    for stored in seen:
        details = stored["status_details"]
        parts = [details["a"], details["b"], details["metrics"]["train_loss"][0]["value"]]
        parts += [stored["error_details"]["c"], int(stored["error_stack"])]
        if len(set(parts)) != 1:
            raise check.fail("a reader saw parts of two updates", got=stored, want="one update")
