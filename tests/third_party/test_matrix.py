"""Runs of several environments as one matrix: the reference from the command line, others' adapters from pytest."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from contracts.report.combination import combined
from contracts.report.matrix import matrices
from contracts.report.stream import read

pytestmark = pytest.mark.third_party("tensorboard", "accelerate", "transformers", "mlflow", "sqlalchemy")

CHECKS = ("MW-102", "MW-105", "MW-108", "MW-202")
WANTED = {
    "MW-102": ["passed", "passed"],
    "MW-105": ["passed", "skipped"],
    "MW-108": ["passed", "failed"],
    "MW-202": ["passed", "known"],
}


def run(*command: str) -> str:
    done = subprocess.run(  # noqa: S603 - our own command line
        [sys.executable, "-m", *command], capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2]
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_runs_of_several_environments_are_one_matrix(tmp_path: Path) -> None:
    ours, theirs, page = tmp_path / "contracts.jsonl", tmp_path / "third-party.jsonl", tmp_path / "all.html"
    only = ",".join(CHECKS)
    run("contracts", "run", "metrics_wire.logger", "--only", only, "--profile", "smoke", "--report", str(ours))
    module = str(Path(__file__).parent / "test_loggers.py")
    selected = f"TestTensorBoard and ({' or '.join(CHECKS)})"
    run(
        "pytest", module, "-q", "-p", "no:cacheprovider", "-k", selected,
        "--contracts-profile", "smoke", "--contracts-report", str(theirs),
    )  # fmt: skip
    last = run("contracts", "report", str(ours), str(theirs), "--html", str(page)).splitlines()[-1]
    [matrix] = matrices(combined([read(ours), read(theirs)]))
    assert matrix.subjects == ("reference", "tensorboard SummaryWriter")
    assert {row.id: [cell.verdict for cell in row.cells] for row in matrix.rows} == WANTED
    # A failed SHOULD fails no run.
    assert last == "5 passed, 1 failed, 1 known, 1 skipped"
    shown = page.read_text(encoding="utf-8")
    assert re.search(r"SummaryWriter\.add_scalar raises for what is no scalar", shown)
