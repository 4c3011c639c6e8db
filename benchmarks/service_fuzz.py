"""Calls that schemathesis draws from the reference Jobs service's document: allowed ones and forbidden ones.

python benchmarks/service_fuzz.py [--cases N] [--rule replace|merge] [--seed N]

Prints how the calls were answered; exits with 1 if one was answered 5xx or not as documented, if a body that the
document forbids was taken, or if a refused call changed anything in the database, of which SQLite tells every commit.
"""

from __future__ import annotations

import argparse
import sqlite3
import time
from collections import Counter
from contextlib import closing
from http import HTTPStatus
from typing import TYPE_CHECKING

import hypothesis
from rich.console import Console
from rich.table import Table
from sqlalchemy import make_url

from contracts.metrics_wire.service_calls import ApiCall, call, departures, drawn_calls
from contracts.metrics_wire.service_task import JSON, is_acknowledged, is_refused, shown, task_path
from impl.metrics_wire.service.adapter import ServiceAdapter

if TYPE_CHECKING:
    from contracts.metrics_wire.protocols import ServiceAnswer

#: Calls of one search: Hypothesis remembers all of a search, to draw none of them twice.
_BATCH = 1000
_TASK = b'{"status": "active", "status_details": {"metrics": {"train_loss": [{"step": 1, "epoch": 1, "value": 0.5}]}}}'


_SHOWN = 1000
_FINDINGS = (
    "answered 5xx, or not at all",
    "not answered as documented",
    "forbidden body taken",
    "database changed by a refused call",
)


class Fuzzer:
    """Sends drawn calls to a service and counts what became of them.

    Args:
        service: The service, on SQLite.

    Attributes:
        answers: How often each kind of call was answered with each status.
        findings: What must not happen, and how often it did; each with its first example.
        cases: Calls so far.
        changes: Those of them that changed the database.
    """

    def __init__(self, service: ServiceAdapter) -> None:
        self.service = service
        self.answers: Counter[tuple[str, int]] = Counter()
        self.findings: dict[str, tuple[int, str]] = dict.fromkeys(_FINDINGS, (0, ""))
        self.cases = self.changes = 0
        self._own = task_path(job="fuzzed")
        service.request("PUT", self._own, content=_TASK, headers=JSON)
        self._database = sqlite3.connect(make_url(service.database).database or "", isolation_level=None)

    def search(self, seed: int, cases: int) -> None:
        """Send so many further calls."""
        chosen = hypothesis.settings(
            max_examples=cases,
            database=None,
            deadline=None,
            phases=[hypothesis.Phase.generate],
            suppress_health_check=list(hypothesis.HealthCheck),
        )

        @hypothesis.seed(seed)
        @chosen
        @hypothesis.given(drawn_calls(self.service))
        def send(case: ApiCall) -> None:
            self._send(case)

        send()

    def close(self) -> None:
        """Let go of the database."""
        self._database.close()

    def _send(self, case: ApiCall) -> None:
        self.cases += 1
        before = self._commits()
        answer = call(self.service, case, self._own)
        changed = self._commits() != before
        self.changes += changed
        self.answers["allowed body" if case.allowed else "forbidden body", answer.status] += 1
        if not answer.status or answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            self._find(_FINDINGS[0], case, answer)
        elif found := departures(self.service, case.method, case.route, answer):
            self._find(_FINDINGS[1], case, answer, found[0])
        if not case.allowed and not is_refused(answer):
            self._find(_FINDINGS[2], case, answer)
        if changed and not is_acknowledged(answer):
            self._find(_FINDINGS[3], case, answer)

    def _commits(self) -> int:
        """Changes whenever another connection has committed."""
        version: int = self._database.execute("PRAGMA data_version").fetchone()[0]
        return version

    def _find(self, kind: str, case: ApiCall, answer: ServiceAnswer, why: str = "") -> None:
        count, first = self.findings[kind]
        self.findings[kind] = count + 1, first or f"{why} {case} answered {shown(answer)}"[:_SHOWN].strip()


def main() -> None:
    """Print the figures of one run."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--rule", choices=["replace", "merge"], default="replace")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    begin = time.perf_counter()
    with ServiceAdapter(chosen.rule) as service, closing(Fuzzer(service)) as fuzzer:
        seed = chosen.seed
        while fuzzer.cases < chosen.cases:
            fuzzer.search(seed, min(_BATCH, chosen.cases - fuzzer.cases))
            seed += 1
    console = Console()
    seconds = time.perf_counter() - begin
    console.print(
        f"{fuzzer.cases} calls to {service.name} in {seconds:.0f} s, seed {chosen.seed}; "
        f"{fuzzer.changes} of them changed the database"
    )
    answers = Table("body", "status", "calls")
    for (kind, status), count in sorted(fuzzer.answers.items()):
        answers.add_row(kind, str(status), str(count))
    console.print(answers)
    findings = Table("must not happen", "calls", "the first")
    for kind, (count, first) in fuzzer.findings.items():
        findings.add_row(kind, str(count), first)
    console.print(findings)
    raise SystemExit(any(count for count, _ in fuzzer.findings.values()))


if __name__ == "__main__":
    main()
