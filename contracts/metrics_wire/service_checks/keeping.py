"""94x: whatever is reported is kept as it was sent."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from contracts.metrics_wire import service_strategies
from contracts.metrics_wire.service_cases import SeriesNames, Value
from contracts.metrics_wire.service_task import Task, point
from contracts.metrics_wire.sides import service
from contracts.metrics_wire.sources import jobs, loops

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.metrics_wire.protocols import JobsService

LOOPS_NAMES = SeriesNames(
    ("train_loss", "train_timing/rollout/total", "val_accuracy@set b/κλ", "train_baseline_reward/pct_0")
)
ODD_NAMES = SeriesNames(("step", "metrics", "__proto__", "a.b", "a%2Fb", " ", "'; DROP TABLE tasks; --", "x" * 512))
#: Text that a template, a database or a page would take for its own.
MARKUP = Value(r'{"message": "line\nfeed \"quoted\" \\ <b>&amp;</b> {{7*7}} %s"}')


@service.check(
    "MW-941",
    source=loops("60 to 80 chartable keys a step, of any name; no list of them is complete"),
    examples=(LOOPS_NAMES, ODD_NAMES),
    cases=service_strategies.series_names,
)
def series_of_any_name_are_kept(check: Check[JobsService], adapter: JobsService, case: SeriesNames) -> None:
    """Series of any name are stored and shown under that name, whether they came whole or point by point.

    Why: the reward of tomorrow's environment has a name that no service has heard of.

    Usual cause: a model with a field for each known series, or a name that becomes part of a key or a path.
    """
    task = Task(check, adapter)
    series = {name: [point(1, index)] for index, name in enumerate(case.names)}
    task.write(status="active", status_details={"metrics": series})
    task.hold_series(series, "series that an update sent are not kept")
    if "append" in adapter.capabilities:
        further = {name: [point(2, index + 0.5)] for index, name in enumerate(case.names)}
        task.append(further)
        want = {name: [*points, *further[name]] for name, points in series.items()}
        task.hold_series(want, "series that were appended to are not kept")


@service.check(
    "MW-942",
    source=loops("counts are integers and losses floats, and one key may be either"),
    examples=tuple(
        map(
            Value,
            (
                *("7", "7.0", "0", "-0.0", "0.1", "1e-05", "5e-324", "1.7976931348623157e+308", "1e+300"),
                *("9007199254740993", "9223372036854775807", "-9223372036854775808"),
            ),
        )
    ),
    cases=service_strategies.numbers,
)
def numbers_stay_what_they_are(check: Check[JobsService], adapter: JobsService, case: Value) -> None:
    """An integer is read as the same integer and a float as the same float, in a series and beside it.

    Why: a count that turns into 128.0 is no count, and a loss that loses its last digits moves between two reads.

    Usual cause: a column of single precision, or one type for all numbers.
    """
    number = json.loads(case.text)
    task = Task(check, adapter)
    details = {"value": number, "metrics": {"train_loss": [point(1, number)]}}
    task.write(status="active", status_details=details)
    task.hold({"status_details": details}, "a number of an update is stored as another")
    if "append" in adapter.capabilities:
        task.append({"train_loss": [point(2, number)]})
        task.hold_series(
            {"train_loss": [point(1, number), point(2, number)]}, "an appended number is stored as another"
        )


@service.check(
    "MW-943",
    source=jobs("the details are the reporter's own: any object, of which the service knows the series"),
    examples=(
        Value('{"checkpoint_path": "/c/step_10", "percentage_done": 58, "message": "", "backend": "nemo-rl"}'),
        Value('{"": [], "nested": {"a": [{"b": {}}], "is": true, "isn\'t": false}, "κ": "λ \\ud83d\\ude00"}'),
        MARKUP,
    ),
    cases=service_strategies.details,
)
def other_details_are_kept(check: Check[JobsService], adapter: JobsService, case: Value) -> None:
    """Whatever JSON stands in the details is read as it was sent, and so do the details of an error.

    Why: the next version of the platform reads what the present one only stores.

    Usual cause: the details are read through a model that drops what it does not know.
    """
    details = json.loads(case.text)
    task = Task(check, adapter)
    task.write(status="active", status_details=details, error_details=details, error_stack=case.text)
    want = {"status_details": details, "error_details": details, "error_stack": case.text}
    task.hold(want, "details are not kept as they were sent")
