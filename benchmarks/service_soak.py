"""Appends of several jobs while the Jobs service is killed again and again: acknowledged points against stored ones.

python benchmarks/service_soak.py [--points N] [--jobs N] [--restarts N] [--database URL]

Each job is a process that appends batches of points, sends a batch once more until it is acknowledged, and never again
after that. Beside each append it inserts the same rows into an SQLite file of its own, with the same durability (WAL,
``synchronous = FULL``, one transaction a batch), so that both are measured on the same machine at the same moment. It
exits with 1 if a point that was acknowledged is not stored as it was sent, or if anything else is stored.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import random
import sqlite3
import statistics
import tempfile
import time
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import httpx
from rich.console import Console
from rich.table import Table

from impl.metrics_wire.service.adapter import ServiceAdapter

if TYPE_CHECKING:
    from collections.abc import Sequence

SERIES = 10
STEPS = 5
BATCH = SERIES * STEPS
#: Batches between two updates of the snapshot, as a runner and a driver send them.
UPDATE_EVERY = 20
PATIENCE_S = 120.0
RETRY_S = 0.02
_SPAWN = multiprocessing.get_context("spawn")
_TABLE = "CREATE TABLE points (series INT, step INT, epoch INT, value TEXT, PRIMARY KEY (series, step)) WITHOUT ROWID"


class Job(NamedTuple):
    """One job of the soak.

    Attributes:
        number: Which one.
        task_url: Where it reports.
        batches: How many batches it appends.
        folder: Where its SQLite file lies.
    """

    number: int
    task_url: str
    batches: int
    folder: Path

    def value(self, series: int, step: int) -> float:
        """What the job observes; no two points have the same."""
        return math.sin(step * SERIES + series) + self.number * 1000

    def batch(self, number: int) -> dict[str, list[dict[str, Any]]]:
        """The points of a batch, by series."""
        steps = range(number * STEPS + 1, (number + 1) * STEPS + 1)
        return {
            f"train_metric_{series}": [{"step": step, "epoch": 1, "value": self.value(series, step)} for step in steps]
            for series in range(SERIES)
        }


class Soaked(NamedTuple):
    """What a job has seen.

    Attributes:
        acknowledged: Points that the service acknowledged.
        cut_off: Requests that were cut off in their midst, and sent once more.
        append_s: Seconds of every append that was acknowledged at the first try.
        insert_s: Seconds of every bare insert.
    """

    acknowledged: int
    cut_off: int
    append_s: list[float]
    insert_s: list[float]


class Figures(NamedTuple):
    """What a soak has come to.

    Attributes:
        acknowledged: Points that the service acknowledged.
        stored: Points that it has, as they were sent.
        others: Points or snapshots that it has and should not.
        cut_off: Requests that a kill has cut off in their midst.
        restarts: How often it was killed and started.
        wall_s: Seconds from the first append to the last, the restarts included.
        append_s: Seconds of the appends.
        insert_s: Seconds of the bare inserts.
    """

    acknowledged: int
    stored: int
    others: int
    cut_off: int
    restarts: int
    wall_s: float
    append_s: list[float]
    insert_s: list[float]

    @property
    def holds(self) -> bool:
        """Whether exactly what was acknowledged is stored."""
        return self.acknowledged == self.stored and self.others == 0


_appended: Any = None


def _share(counter: Any) -> None:
    global _appended  # noqa: PLW0603 - a pool gives its processes what they share in this way only
    _appended = counter


class Client:
    """Sends until it is acknowledged.

    Attributes:
        cut_off: Requests whose connection broke after it was made.
    """

    def __init__(self) -> None:
        self._http = httpx.Client(timeout=30, trust_env=False)
        self.cut_off = 0

    def send(self, method: str, url: str, body: dict[str, Any]) -> float | None:
        """Send it until it is acknowledged; the seconds that it took, ``None`` if once was not enough."""
        deadline = time.monotonic() + PATIENCE_S
        is_first = True
        while True:
            began = time.perf_counter()
            try:
                answer = self._http.request(method, url, json=body)
                said = f"{answer.status_code} {answer.text[:200]}"
            except httpx.TransportError as error:
                answer, said = None, repr(error)
                self.cut_off += not isinstance(error, httpx.ConnectError)
            taken = time.perf_counter() - began
            if answer is not None and not answer.is_server_error:
                answer.raise_for_status()
                return taken if is_first else None
            if time.monotonic() > deadline:
                raise TimeoutError(f"{method} {url} was not carried out for {PATIENCE_S:.0f} s: {said}")
            is_first = False
            time.sleep(RETRY_S)


def soak(job: Job) -> Soaked:
    """Append every batch of a job, and insert it into a bare SQLite file."""
    client, append_s, insert_s = Client(), [], []
    with closing(sqlite3.connect(job.folder / f"bare-{job.number}.sqlite", isolation_level=None)) as bare:
        bare.execute("PRAGMA journal_mode = WAL")
        bare.execute("PRAGMA synchronous = FULL")
        bare.execute(_TABLE)
        for number in range(job.batches):
            points = job.batch(number)
            if number % UPDATE_EVERY == 0:
                client.send("PUT", job.task_url, {"status": "active", "status_details": {"step": number * STEPS}})
            taken = client.send("POST", f"{job.task_url}/metrics", {"metrics": points})
            if taken is not None:
                append_s.append(taken)
            insert_s.append(_insert(bare, points))
            with _appended.get_lock():
                _appended.value += BATCH
    return Soaked(job.batches * BATCH, client.cut_off, append_s, insert_s)


def _insert(bare: sqlite3.Connection, points: dict[str, list[dict[str, Any]]]) -> float:
    rows = [
        (series, point["step"], point["epoch"], repr(point["value"]))
        for series, of_series in enumerate(points.values())
        for point in of_series
    ]
    began = time.perf_counter()
    bare.execute("BEGIN IMMEDIATE")
    bare.executemany("INSERT INTO points VALUES (?, ?, ?, ?)", rows)
    bare.execute("COMMIT")
    return time.perf_counter() - began


def run(points: int, jobs: int, restarts: int, database: str | None = None) -> Figures:
    """Run the jobs, and kill the service ``restarts`` times between their first append and their last."""
    batches = math.ceil(points / jobs / BATCH)
    total = batches * jobs * BATCH
    chance = random.Random(0)  # noqa: S311 - no secret
    with tempfile.TemporaryDirectory(prefix="service-soak-") as folder, ServiceAdapter("replace", database) as service:
        path = f"{service.base_url}/apis/jobs/v2/workspaces/soak/jobs"
        work = [
            Job(number, f"{path}/job-{number}/steps/train/tasks/main", batches, Path(folder)) for number in range(jobs)
        ]
        appended = _SPAWN.Value("q", 0)
        with ProcessPoolExecutor(jobs, mp_context=_SPAWN, initializer=_share, initargs=(appended,)) as pool:
            began = time.monotonic()
            soaking = [pool.submit(soak, job) for job in work]
            for number in range(restarts):
                _wait_for(appended, total * (number + 0.5) / restarts, soaking)
                # In the midst of an append, of whichever job.
                time.sleep(chance.uniform(0, RETRY_S))
                service.kill()
                service.restart()
            soaked = [each.result() for each in soaking]
            wall_s = time.monotonic() - began
        service.kill()
        service.restart()
        stored, others = map(sum, zip(*(compare_stored(job) for job in work), strict=True))
    return Figures(
        acknowledged=sum(each.acknowledged for each in soaked),
        stored=stored,
        others=others,
        cut_off=sum(each.cut_off for each in soaked),
        restarts=restarts,
        wall_s=wall_s,
        append_s=[taken for each in soaked for taken in each.append_s],
        insert_s=[taken for each in soaked for taken in each.insert_s],
    )


def _wait_for(appended: Any, points: float, soaking: Sequence[Future[Soaked]]) -> None:
    while appended.value < points:
        for each in soaking:
            if each.done() and each.exception() is not None:
                each.result()
        time.sleep(0.005)


def compare_stored(job: Job) -> tuple[int, int]:
    """How many points of a job are stored as they were sent, and how much else there is."""
    task = httpx.get(job.task_url, timeout=120, trust_env=False).raise_for_status().json()
    metrics = task["status_details"].pop("metrics")
    wanted = {
        (name, point["step"], point["epoch"], point["value"])
        for number in range(job.batches)
        for name, points in job.batch(number).items()
        for point in points
    }
    found = [(name, each["step"], each["epoch"], each["value"]) for name, of in metrics.items() for each in of]
    last = (job.batches - 1) // UPDATE_EVERY * UPDATE_EVERY * STEPS
    snapshot = (task["status"], task["status_details"]) == ("active", {"step": last})
    right = set(found) & wanted
    return len(right), len(found) - len(right) + (not snapshot)


def quantiles(seconds: list[float]) -> tuple[float, float]:
    """The median and the 99th percentile, in milliseconds."""
    ordered = sorted(seconds)
    return statistics.median(ordered) * 1000, ordered[int(len(ordered) * 0.99)] * 1000


def latency_table(figures: Figures) -> Table:
    """Appends beside bare inserts of the same rows."""
    table = Table(title=f"Append of {BATCH} points, in ms")
    for column in ("", "p50", "p99"):
        table.add_column(column, justify="right")
    append, insert = quantiles(figures.append_s), quantiles(figures.insert_s)
    table.add_row("append to the service", *(f"{each:.1f}" for each in append))
    table.add_row("bare SQLite insert", *(f"{each:.1f}" for each in insert))
    table.add_row("ratio", *(f"{one / other:.1f}" for one, other in zip(append, insert, strict=True)))
    return table


def main() -> None:
    """Soak, and print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--points", type=int, default=200_000)
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--restarts", type=int, default=20)
    parser.add_argument("--database", help="URL of a PostgreSQL database; by default a new SQLite file")
    asked = parser.parse_args()
    figures = run(asked.points, asked.jobs, asked.restarts, asked.database)
    console = Console()
    console.print(latency_table(figures))
    console.print(
        f"{asked.jobs} jobs in {figures.wall_s:.0f} s, the restarts included; {figures.cut_off} requests were cut off "
        "by a kill and sent once more",
        soft_wrap=True,
    )
    console.print(
        f"{figures.acknowledged} points acknowledged, {figures.stored} of them stored, {figures.others} others stored, "
        f"{figures.restarts} kill -9 restarts",
        soft_wrap=True,
    )
    if not figures.holds:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
