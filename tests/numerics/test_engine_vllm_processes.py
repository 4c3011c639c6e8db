"""vLLM in its default mode: the switch, the proof and the refits across process boundaries, on two ranks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.engine("vllm"),
]
HERE = Path(__file__).parent
ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "PYTHONPATH": str(HERE.parents[1]),
    "TORCHDYNAMO_DISABLE": "1",
    "VLLM_ENABLE_V1_MULTIPROCESSING": "1",  # the default, which this process may have set to 0 for its own engines
    "VLLM_CPU_SIM_MULTI_NUMA": "1",  # two ranks on a machine of one node
    "VLLM_LOGGING_LEVEL": "ERROR",
    "VLLM_NO_USAGE_STATS": "1",
}


def test_workers_in_their_own_processes_compute_in_fp32_and_follow_every_transport(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "ignore", str(HERE / "default_vllm.py"), str(tmp_path)]
    with subprocess.Popen(  # noqa: S603 - our own file
        command, env={**os.environ, **ENVIRONMENT}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        out, err = process.communicate(timeout=540)
    assert process.returncode == 0, err[-3000:]
    found = json.loads(out.splitlines()[-1])
    assert len({process.pid, *found["processes"]}) == 4, "two ranks, and the native head's engine"
    assert all(
        proof == {"dtype": "float32", "on_bf16_grid": pytest.approx(0, abs=0.01)} for proof in found["proofs"] if proof
    )
    assert any(found["proofs"])
    assert found["native"] == [{"dtype": "float32", "on_bf16_grid": pytest.approx(0, abs=0.01)}]
    assert "the fp32 lm_head (per_call) is not installed in vLLM's worker process" in found["without_plugin"]
    assert "VLLM_PLUGINS='another'" in found["without_plugin"]
    for transport, (dtype, error, largest) in found["errors"].items():
        assert dtype == "float32", transport
        assert largest > 16, "a bf16 step of these logits is an eighth"
        assert error < 1e-4, transport
    assert found["bytes"] == 512 * 128 * 4, "each rank holds its shard"
