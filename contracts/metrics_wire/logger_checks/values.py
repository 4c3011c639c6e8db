"""Values: what of a metric dict becomes a point, and as what."""

from __future__ import annotations

import copy
import json
import math
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from contracts.level import Level
from contracts.metrics_wire import strategies
from contracts.metrics_wire.bench import Bench, nothing_raised
from contracts.metrics_wire.cases import At, Kind, Names
from contracts.metrics_wire.logger_checks.numbering import EACH_SERVICE
from contracts.metrics_wire.protocols import Schedule
from contracts.metrics_wire.services import Service
from contracts.metrics_wire.sides import logger
from contracts.metrics_wire.sources import composite, fixed, loops, service

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.metrics_wire.protocols import LoggerAdapter

BAD = ("nan", "inf", "-inf", "bool", "none", "text", "list", "dict", "int keys", "histogram", "table", "tensor")

SCHEDULE = Schedule(max_steps=10)


def odd_value(kind: str) -> Any:
    """A value that the loops put among their metrics, by its kind."""
    import numpy as np  # noqa: PLC0415 - the room is listed without it

    from contracts.metrics_wire.traces.values import Opaque, Tensor, ZeroDimTensor  # noqa: PLC0415 - as above

    # torch's own where an adapter brought torch: such backends ask for the type.
    torch = sys.modules.get("torch")
    return {
        "nan": float("nan"),
        "inf": float("inf"),
        "-inf": float("-inf"),
        "bool": True,
        "huge": 10**400,
        "none": None,
        "text": "0.5",
        "list": [0.5, 0.5],
        "dict": {"inner": 0.5},
        "int keys": {0: [1, 2]},
        "histogram": Opaque("Histogram", [0.5]),
        "table": Opaque("Table", [[0.5]]),
        "tensor": torch.zeros(2) if torch else Tensor((2,)),
        "int": 7,
        "float": 7.0,
        "float32": np.float32(0.5),
        "float64": np.float64(0.5),
        "int64": np.int64(7),
        "0-d array": np.array(0.5),
        "0-d int array": np.array(7),
        "0-d tensor": torch.tensor(0.5) if torch else ZeroDimTensor(0.5),
    }[kind]


@logger.check(
    "MW-201",
    source=fixed("a list of metric names that fits one algorithm forwards almost nothing of another's run"),
    examples=(
        Names(("loss", "reward", "advantages/mean", "search agent v2/num_tool_calls/max", "timing/rollout/total")),
        Names(("critic/loss", "baseline_reward/pct_0"), Service.MERGE),
        Names(("anything at all", "κλ", "a:b"), Service.APPEND),
    ),
    cases=strategies.metric_names,
)
def every_scalar_is_forwarded(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: Names) -> None:
    """Every chartable scalar of a train dict becomes a point of a series of its own, whatever its name.

    Why: reward is what says whether RL converges, and no list of names knows tomorrow's algorithm.

    Usual cause: an allow-list, or names that are rewritten until two of them are one.
    """
    metrics = {name: index + 0.5 for index, name in enumerate(case.names)}
    with Bench(adapter, case.service) as bench:
        process = bench.process(SCHEDULE)
        with nothing_raised(check):
            process.log_metrics(dict(metrics), 1, "train")
            process.close()
        found = {value: name for name in bench.series for value in bench.values(name).values()}
        if missing := sorted(name for name, value in metrics.items() if value not in found):
            raise check.fail("metrics were not forwarded", got=sorted(bench.series), want=missing)
        bare = {name: value for name, value in metrics.items() if not name.startswith("train_")}
        got = {name: bench.values(f"train_{name}") for name in bare}
        want = {name: {1: value} for name, value in bare.items()}
        if got != want:
            raise check.fail("metrics are not stored under train_<name>", got=got, want=want)


@logger.check(
    "MW-202",
    source=loops("metric dicts hold NaN, histograms, tables and nested dicts among the scalars"),
    examples=tuple(Kind(kind, list(Service)[index % 4]) for index, kind in enumerate(BAD)),
)
def a_bad_value_costs_only_itself(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: Kind) -> None:
    """A value that cannot be charted is left out; the other metrics of its dict and the step's report are not.

    Why: the standard deviation of one sample is NaN, at step 1 of many a run.

    Usual cause: math.isnan on an object, a JSON encoder that refuses the whole body, or a service that does.
    """
    _costs_only_itself(check, adapter, case)


@logger.check(
    "MW-206",
    level=Level.SHOULD,
    source=loops("a product of probabilities' inverses, or a counter of tokens, may pass what a float holds"),
    examples=(Kind("huge"), Kind("huge", Service.APPEND)),
)
def a_number_beyond_floats_costs_only_itself(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: Kind) -> None:
    """An integer that no float holds is left out as any value that cannot be charted.

    Why: it takes a run with it that went well until then.

    Usual cause: float(value), which raises OverflowError and not ValueError.
    """
    _costs_only_itself(check, adapter, case)


def _costs_only_itself(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: Kind) -> None:
    """Raise unless a bad value is left out and everything beside it is stored."""
    with Bench(adapter, case.service) as bench:
        process = bench.process(SCHEDULE)
        with nothing_raised(check, value=case.kind):
            process.log_metrics({"before": 0.25, "bad": odd_value(case.kind), "loss": 0.5}, 1, "train")
            process.log_metrics({"bad": odd_value(case.kind), "accuracy": 0.75}, 1, "validation")
            process.log_metrics({"loss": odd_value(case.kind), "reward": 1.5}, 2, "train")
            process.close()
        want: dict[str, dict[int, float]] = {
            "train_before": {1: 0.25},
            "train_bad": {},
            "train_loss": {1: 0.5},
            "train_reward": {2: 1.5},
            "val_bad": {},
            "val_accuracy": {1: 0.75},
        }
        got = {name: bench.values(name) for name in want}
        if not bench.has_service:
            # What can be charted is for the store's own charts to say, if it is kept as what it is.
            for name, points in want.items():
                got[name] = {
                    step: value for step, value in got[name].items() if step in points or not _is(case.kind, value)
                }
        if got != want:
            raise check.fail("a bad value cost more than itself", got=got, want=want, value=case.kind)
        if bench.has_service and bench.details.get("step") != 2:  # noqa: PLR2004 - the step logged above
            raise check.fail("a bad value cost the step its report", got=bench.details, want="step 2")


def _is(kind: str, stored: float) -> bool:
    """Whether a bad value was kept as what it is: NaN, an infinity or the largest float for one, a bool as 0 or 1."""
    if kind == "nan":
        return math.isnan(stored)
    if kind in {"inf", "-inf"}:
        return stored * float(kind) > 0 and abs(stored) >= sys.float_info.max
    return kind in {"bool", "text"} and stored == float(odd_value(kind))


@logger.check(
    "MW-204",
    source=service("NaN and Infinity are no JSON, and a null as the last value of a series crashes the chart"),
    requires={"reports_to_service"},
    examples=EACH_SERVICE,
)
def the_payload_is_strict_json_without_null(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: At) -> None:
    """Everything that is sent is strict JSON, and nothing that was not observed is sent, never as null.

    Why: Python's json writes NaN without a word, and a null charts as a real zero, or not at all.

    Usual cause: json.dumps as it is by default, or details.get(...) put into the body unseen.
    """
    with Bench(adapter, case.service) as bench:
        process = bench.process(SCHEDULE)
        process.log_hyperparams({"grpo": {"seed": None}})
        process.log_metrics({"accuracy": 0.5, "absent": None}, 0, "validation")
        process.log_metrics({"loss": float("nan"), "reward": 0.5, "absent": None}, 1, "train")
        process.close()
        for request in bench.probe.requests:
            if request.body and (fault := _fault_of(request.body)):
                raise check.fail("a body is not what a chart can read", got=fault, want="strict JSON without null")
        if not any(request.body for request in bench.probe.requests):
            raise check.fail("nothing was sent", got=[], want="reports")


def _fault_of(body: bytes) -> str | None:
    def constant(name: str) -> NoReturn:
        raise ValueError(f"{name} is not JSON")

    try:
        value = json.loads(body, parse_constant=constant)
    except ValueError as error:
        return f"{error}: {body[:200]!r}"
    return f"null in {body[:200]!r}" if _has_null(value) else None


def _has_null(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_has_null, value.values()))
    if isinstance(value, list):
        return any(map(_has_null, value))
    return value is None


@logger.check(
    "MW-205",
    source=composite("the composite logger hands every backend the same dict object"),
    examples=EACH_SERVICE,
)
def the_callers_dict_is_left_alone(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: At) -> None:
    """The dict of a call is neither changed nor looked at again after the call.

    Why: the next backend gets the same dict, and the loop goes on to use it.

    Usual cause: metrics.pop("loss"), or a reference that is kept until the report is sent.
    """
    metrics: dict[str, Any] = {"loss": 0.5, "lr": 1e-5}
    with Bench(adapter, case.service) as bench:
        if bench.has_service:
            # Elsewhere whether such a value raises is MW-202's.
            metrics["nested"] = {0: [1]}
        before = copy.deepcopy(metrics)
        process = bench.process(Schedule(max_steps=1000, val_period=1000))
        process.log_metrics(metrics, 1, "train")
        if metrics != before:
            raise check.fail("the dict was changed", got=metrics, want=before)
        metrics.update(loss=99.0, late=1.0)
        process.close()
        got = (bench.values("train_loss"), bench.values("train_late"))
        if got != ({1: 0.5}, {}):
            raise check.fail("the dict was read after the call", got=got, want=({1: 0.5}, {}))
