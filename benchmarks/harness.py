"""What the harness itself costs: imports, reading one Gym, and the room `gym_overflow` on its reference.

Wall and processor seconds, each beside a bare `python -c pass` of the same run, so that they can be compared between
machines; on a busy one the processor seconds are the ones to read. Run `python benchmarks/harness.py` from the root;
NeMo Gym is downloaded first if it is not cached.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from contracts.gym_overflow.gym import load_gym, pinned_releases
from contracts.gym_overflow.gym.sites import find_sites
from contracts.gym_overflow.gym.syntax import SourceText

ROOT = Path(__file__).parents[1]
HEAVY = (
    "torch",
    "vllm",
    "megatron",
    "httpx",
    "fastapi",
    "starlette",
    "hypothesis",
    "pytest",
    "pydantic",
    "schemathesis",
)
REPEATS = 7
IMPORT = f"""
import json, sys, time
wall, cpu = time.perf_counter(), time.process_time()
import contracts
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
print(json.dumps([wall, cpu, [name for name in {HEAVY!r} if name in sys.modules]]))
"""


class Cost(NamedTuple):
    """Wall and processor seconds."""

    wall: float
    cpu: float


def median(costs: list[Cost]) -> Cost:
    """The median of each."""
    return Cost(*map(statistics.median, zip(*costs, strict=True)))


def process(*arguments: str) -> tuple[Cost, str]:
    """What a Python process costs, and the last line that it printed."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    ran = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    if ran.returncode != 0:
        raise SystemExit(f"{' '.join(arguments)} exited with {ran.returncode}:\n{ran.stdout[-2000:]}{ran.stderr}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(wall, cpu), (ran.stdout.splitlines() or [""])[-1]


def import_cost() -> tuple[Cost, str]:
    """What `import contracts` costs inside a fresh process, and the heavy modules that it loads."""
    measured = [json.loads(process("-c", IMPORT)[1]) for _ in range(REPEATS)]
    heavy = ", ".join(measured[0][2]) or "none"
    return median([Cost(wall, cpu) for wall, cpu, _ in measured]), f"heavy modules loaded: {heavy}"


def parse_cost(release: str) -> Cost:
    """What it costs to parse the file of one Gym and to find and read its classifiers."""
    gym = load_gym(release)
    costs = []
    for _ in range(REPEATS):
        wall, cpu = time.perf_counter(), time.process_time()
        find_sites(SourceText(gym.text, gym.path))
        costs.append(Cost(time.perf_counter() - wall, time.process_time() - cpu))
    return median(costs)


def main() -> None:
    """Measure, and print one table."""
    releases = [release.release for release in pinned_releases()]
    for release in releases:
        load_gym(release, progress=print)
    table = Table(title="What the harness costs")
    for heading in ("what", "wall s", "x bare", "cpu s", "x bare", "it said"):
        table.add_column(heading, justify="left" if heading in {"what", "it said"} else "right")
    bare = median([process("-c", "pass")[0] for _ in range(REPEATS)])

    def row(what: str, cost: Cost, said: str = "") -> None:
        ratios = (f"{cost.wall / bare.wall:.1f}", f"{cost.cpu / bare.cpu:.1f}")
        table.add_row(what, f"{cost.wall:.3f}", ratios[0], f"{cost.cpu:.3f}", ratios[1], said)

    row("python -c pass, the bare one", bare)
    row("import contracts, in the process", *import_cost())
    row(f"parse NeMo Gym {releases[-1]}, in the process", parse_cost(releases[-1]))
    row("contracts list gym_overflow", *process("-m", "contracts", "list", "gym_overflow"))
    row("contracts run gym_overflow", *process("-m", "contracts", "run", "gym_overflow"))
    row("contracts mutants gym_overflow", *process("-m", "contracts", "mutants", "gym_overflow"))
    Console().print(table)


if __name__ == "__main__":
    main()
