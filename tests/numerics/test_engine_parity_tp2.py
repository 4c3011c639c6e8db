"""Both engines on two tensor-parallel ranks: the head is split over processes that a parent's patch never reaches.

The strategy is the one that ``test_engine_vllm_processes.py`` does not prove in such processes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.engine("vllm", "megatron"),
    pytest.mark.slow,
]
CHECKS = ["NU-501", "NU-502", "NU-506"]


def test_every_gap_is_the_bodies_before_and_after_refits(tmp_path: Path) -> None:
    """In a process of its own: vLLM reads the cores of each rank once, and another engine here may have been first."""
    report = tmp_path / "report.jsonl"
    factory = "impl.numerics.engine_pairs:vllm_megatron_llama_tp2"
    command = [sys.executable, "-W", "ignore", "-m", "contracts", "run", "numerics.parity", "--adapter", factory]
    command += ["--only", ",".join(CHECKS), "--profile", "smoke", "--report", str(report)]
    environment = {**os.environ, "VLLM_CPU_OMP_THREADS_BIND": "0|1", "OMP_NUM_THREADS": "1"}
    finished = subprocess.run(  # noqa: S603 - our own command
        command, capture_output=True, text=True, env=environment, timeout=540, check=False
    )
    assert finished.returncode == 0, finished.stdout[-2000:] + finished.stderr[-2000:]
    results = [record for record in map(json.loads, report.read_text().splitlines()) if record.get("check")]
    assert [(record["check"], record["outcome"]) for record in results] == [(check, "passed") for check in CHECKS]
