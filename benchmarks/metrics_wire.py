"""What metrics cost: bytes on the wire, time of the training thread, memory; against a naive logger, in one run.

python benchmarks/metrics_wire.py [--steps N ...]

The naive logger sends every series whole, after every step, from the training thread. It is run over fewer steps where
the whole would take hours; its bytes are then continued by the formula that its first steps follow, and marked with ~.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
import tracemalloc
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx
from rich.console import Console
from rich.table import Table

from impl.metrics_wire.logger import NemoRLLogger
from impl.metrics_wire.reporter import JobsServiceProgressReporter

if TYPE_CHECKING:
    from collections.abc import Callable

SERIES = 14
#: Steps that the naive logger is given: its cost grows with their square.
NAIVE_STEPS = 300
LATENCIES_S = (0.0, 0.05, 2.0)


@dataclass
class Cost:
    """What one run cost.

    Attributes:
        blocked_s: Seconds of the training thread, for each report.
        sent: Bytes of all request bodies.
        final: Bytes of the series as they are stored at the end.
        peak: Bytes of memory at the peak, beyond those before the run.
    """

    blocked_s: list[float] = field(default_factory=list)
    sent: int = 0
    final: int = 0
    peak: int = 0

    @property
    def ratio(self) -> float:
        """Bytes sent for each byte of the final series."""
        return self.sent / self.final


class NaiveLogger:
    """Sends every series whole, after every step, from the training thread."""

    def __init__(self, task_url: str) -> None:
        self.url = task_url
        self.http = httpx.Client(timeout=30)
        self.metrics: dict[str, list[dict[str, Any]]] = {}

    def log_metrics(self, metrics: dict[str, float], step: int, prefix: str) -> None:
        """Add a step, and send everything."""
        for name, value in metrics.items():
            self.metrics.setdefault(f"{prefix}_{name}", []).append({"step": step, "epoch": 1, "value": value})
        body = {"status": "active", "status_details": {"step": step, "metrics": self.metrics}}
        self.http.put(self.url, json=body).raise_for_status()

    def close(self) -> None:
        """Close the connection."""
        self.http.close()


#: The service runs in a process of its own, as it does in reality: what it costs is not the logger's.
_SERVICE = """
import json, sys
from contracts.metrics_wire.probe import Fault, Probe
append, delay_s = json.loads(sys.argv[1])
with Probe(append=append) as probe:
    if delay_s:
        probe.faults.arm(Fault("delay", seconds=delay_s))
    print(probe.task_url(), flush=True)
    sys.stdin.read()
    series = probe.stored()["status_details"]["metrics"]
    final = len(json.dumps(series, separators=(",", ":")))
    print(json.dumps([sum(len(each.body) for each in probe.requests), final, len(series["train_loss"])]))
"""


def reference(task_url: str, steps: int) -> NemoRLLogger:
    """The reference's logger; a report is due every tenth step."""
    return NemoRLLogger.for_schedule(steps, 1, 100, reporter=JobsServiceProgressReporter(task_url))


def run(
    build: Callable[[str, int], Any],
    steps: int,
    *,
    append: bool,
    delay_s: float = 0.0,
    pause_s: float = 0.0,
    memory: bool = False,
) -> Cost:
    """Log ``steps`` steps against a service that answers after ``delay_s``; every point must be stored at the end."""
    cost = Cost()
    command = [sys.executable, "-c", _SERVICE, json.dumps([append, delay_s])]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as service:  # noqa: S603 - our own code
        assert service.stdin is not None  # noqa: S101 - asked for, above
        assert service.stdout is not None  # noqa: S101 - asked for, above
        logger = build(service.stdout.readline().strip(), steps)
        if memory:
            tracemalloc.start()
        for step in range(1, steps + 1):
            metrics = {"loss": 1 / step} | {f"metric_{index}": step / (index + 7) for index in range(SERIES - 1)}
            began = time.perf_counter()
            logger.log_metrics(metrics, step, "train")
            cost.blocked_s.append(time.perf_counter() - began)
            if pause_s:
                time.sleep(pause_s)
        logger.close()
        if memory:
            cost.peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        service.stdin.close()
        cost.sent, cost.final, stored = json.loads(service.stdout.read())
    if stored != steps:
        raise SystemExit(f"{steps - stored} of {steps} points were not stored")
    return cost


def naive_bytes(measured: Cost, measured_steps: int, steps: int) -> float:
    """Bytes over ``steps``: the sum of the sizes of all prefixes, which grows with the square of their number."""
    return measured.sent * (steps / measured_steps) ** 2


def bytes_table(all_steps: list[int]) -> Table:
    """Bytes on the wire."""
    table = Table(title=f"Bytes on the wire / final series, {SERIES} series", title_justify="left")
    for column in ("steps", "append", "whole series", "naive", "naive / append", "naive / whole"):
        table.add_column(column, justify="right")
    naive = run(lambda url, _: NaiveLogger(url), NAIVE_STEPS, append=False)
    for steps in all_steps:
        # A pause of a fifth of a millisecond lets the sender see many sizes of the series, as it does in a real run.
        appended = run(reference, steps, append=True, pause_s=2e-4)
        whole = run(reference, steps, append=False, pause_s=2e-4)
        naively = naive_bytes(naive, NAIVE_STEPS, steps)
        table.add_row(
            f"{steps}",
            f"{appended.ratio:.2f}",
            f"{whole.ratio:.2f}",
            f"~{naively / whole.final:.0f}",
            f"~{naively / appended.sent:.0f}",
            f"~{naively / whole.sent:.0f}",
        )
    return table


def blocked_table(all_steps: list[int]) -> Table:
    """Time of the training thread."""
    table = Table(
        title="Training thread blocked for each report (µs), as the service answers in ...", title_justify="left"
    )
    for column in ("steps", "answer", "median", "p99", "naive median", "naive p99", "naive / ours"):
        table.add_column(column, justify="right")
    for steps in all_steps:
        for delay_s in LATENCIES_S:
            ours = run(reference, steps, append=True, delay_s=delay_s)
            naive = run(lambda url, _: NaiveLogger(url), 100 if delay_s < 1 else 3, append=False, delay_s=delay_s)
            table.add_row(
                f"{steps}", f"{delay_s * 1000:.0f} ms", *_quantiles(ours), *_quantiles(naive), _ratio(naive, ours)
            )
    return table


def memory_table(all_steps: list[int]) -> Table:
    """Memory of the training process."""
    table = Table(title="Peak memory / final series", title_justify="left")
    for column in ("steps", "append", "whole series", f"naive, at {NAIVE_STEPS} steps"):
        table.add_column(column, justify="right")
    naive = run(lambda url, _: NaiveLogger(url), NAIVE_STEPS, append=False, memory=True)
    for steps in all_steps:
        appended, whole = (run(reference, steps, append=append, memory=True) for append in (True, False))
        table.add_row(f"{steps}", *(f"{cost.peak / cost.final:.1f}" for cost in (appended, whole, naive)))
    return table


def _quantiles(cost: Cost) -> tuple[str, str]:
    ordered = sorted(cost.blocked_s)
    return f"{statistics.median(ordered) * 1e6:.0f}", f"{ordered[int(len(ordered) * 0.99)] * 1e6:.0f}"


def _ratio(naive: Cost, ours: Cost) -> str:
    return f"{statistics.median(naive.blocked_s) / statistics.median(ours.blocked_s):.0f}"


def main() -> None:
    """Print the three tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, nargs="+", default=[1000, 20_000])
    steps = parser.parse_args().steps
    console = Console()
    for table in (bytes_table, blocked_table, memory_table):
        console.print(table(steps))


if __name__ == "__main__":
    main()
