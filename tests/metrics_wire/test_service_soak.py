"""The soak: a short one for real, and that it would notice a point that is lost or changed."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from impl.metrics_wire.service.adapter import ServiceAdapter

if TYPE_CHECKING:
    from collections.abc import Iterator

SOAK = Path(__file__).parents[2] / "benchmarks" / "service_soak.py"


@pytest.fixture(scope="module")
def soak() -> Iterator[Any]:
    spec = importlib.util.spec_from_file_location("service_soak", SOAK)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(sys.modules, "service_soak", module)
        spec.loader.exec_module(module)
        yield module


@pytest.mark.slow
def test_nothing_acknowledged_is_lost_while_the_service_is_killed() -> None:
    command = [sys.executable, SOAK, "--points", "8000", "--restarts", "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own script
    assert done.returncode == 0, done.stdout + done.stderr
    counted = "8000 points acknowledged, 8000 of them stored, 0 others stored, 2 kill -9 restarts"
    assert done.stdout.splitlines()[-1] == counted
    assert re.search(r"ratio +│ +\d+\.\d +│ +\d+\.\d", done.stdout)


def test_a_point_that_is_lost_changed_or_added_is_noticed(soak: Any, tmp_path: Path) -> None:
    with ServiceAdapter("replace") as service:
        url = f"{service.base_url}/apis/jobs/v2/workspaces/soak/jobs/job-0/steps/train/tasks/main"
        job = soak.Job(0, url, 1, tmp_path)
        points = job.batch(0)
        points["train_metric_0"].pop()
        points["train_metric_1"][0]["value"] += 1
        points["train_metric_2"].append({"step": 99, "epoch": 1, "value": 0.5})
        httpx.put(url, json={"status": "active", "status_details": {"step": 1}}).raise_for_status()
        httpx.post(f"{url}/metrics", json={"metrics": points}).raise_for_status()
        # Changed, added, and the snapshot.
        assert soak.compare_stored(job) == (soak.BATCH - 2, 3)


@pytest.mark.parametrize(("stored", "others", "holds"), [(100, 0, True), (99, 0, False), (100, 1, False)])
def test_a_soak_holds_if_exactly_what_was_acknowledged_is_stored(
    soak: Any, stored: int, others: int, *, holds: bool
) -> None:
    figures = soak.Figures(100, stored, others, 0, 2, 1.0, [0.1], [0.1])
    assert figures.holds is holds
