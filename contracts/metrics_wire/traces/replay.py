"""Replay a trace: every process of it builds a logger of its own against one probe service."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from contracts.metrics_wire.composite import Composite
from contracts.metrics_wire.traces.values import revived
from contracts.metrics_wire.waiting import holds_within

if TYPE_CHECKING:
    from collections.abc import Callable

    from contracts.metrics_wire.probe import Probe
    from contracts.metrics_wire.protocols import LoggerAdapter
    from contracts.metrics_wire.traces.recording import Trace

#: A step takes minutes in the real loops: a process that is killed has had the time to send what it logged.
_BEFORE_KILL_S = 10.0


class LoopRaised(Exception):  # noqa: N818 - it stands for what the loop raised
    """The exception that ended a recorded loop."""


def replay(trace: Trace, adapter: LoggerAdapter, probe: Probe) -> None:
    """Carry out every process of ``trace``; afterwards ``probe`` has stored what the logger made of it.

    The end of a process is the driver's affair where the adapter has one, else ``close`` is called. A process that is
    killed is cut off from the service, after it had the time to send its last step, and its end does not reach it.
    """
    for calls in trace.processes:
        with probe.another_door() as door:
            task_url = probe.task_url(base_url=door.base_url)
            logger = adapter.start(task_url, trace.schedule.fields, algorithm=trace.algorithm)
            composite = Composite()
            if calls and calls[-1]["call"] == "sigkill":
                composite.loggers.append(logger)
                _train(calls, composite)
                _settle(calls, probe)
                door.cut()
            else:
                _drive(trace, adapter, composite, logger, calls)
            logger.close()


def _drive(
    trace: Trace, adapter: LoggerAdapter, composite: Composite, logger: Any, calls: tuple[dict[str, Any], ...]
) -> None:
    try:
        if "driver" in adapter.capabilities:
            adapter.drive(trace.algorithm, lambda: _train(calls, composite), composite, logger)
        else:
            composite.loggers.append(logger)
            _train(calls, composite)
    except LoopRaised:
        return


def _train(calls: tuple[dict[str, Any], ...], composite: Composite) -> None:
    for call in calls:
        if not call.get("attached", True):
            continue
        if call["call"] == "loop_raise":
            raise LoopRaised(call.get("exc", ""))
        if "thread" in call:
            thread = threading.Thread(target=_carry_out, args=(call, composite), name=call["thread"])
            thread.start()
            thread.join()
        else:
            _carry_out(call, composite)


def _carry_out(call: dict[str, Any], composite: Composite) -> None:
    actions: dict[str, Callable[[], None]] = {
        "log_metrics": lambda: composite.log_metrics(
            {name: revived(value) for name, value in call["metrics"].items()},
            revived(call["step"]),
            call.get("prefix", ""),
            call.get("step_metric"),
            call.get("step_finished", False),
        ),
        "log_hyperparams": lambda: composite.log_hyperparams(revived(call.get("params", {}))),
        "log_histogram": lambda: composite.log_histogram(revived(call.get("histogram")), call["step"], call["name"]),
        "log_plot": lambda: composite.log_plot(None, call["step"], call["name"]),
        "finish": composite.finish,
    }
    if call["call"] in actions:
        actions[call["call"]]()


def _settle(calls: tuple[dict[str, Any], ...], probe: Probe) -> None:
    steps = [call["step"] for call in calls if call["call"] == "log_metrics" and call.get("prefix") == "train"]
    if steps:
        holds_within(_BEFORE_KILL_S, lambda: steps[-1] in _train_steps(probe))


def _train_steps(probe: Probe) -> set[int]:
    task = probe.stored() or {}
    metrics = task.get("status_details", {}).get("metrics", {})
    return {point["step"] for name, points in metrics.items() if name.startswith("train_") for point in points}
