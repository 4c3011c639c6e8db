"""``contracts metrics replay``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from contracts.cli import app

if TYPE_CHECKING:
    from pathlib import Path

META = {"call": "meta", "trace": "short", "loop": "grpo.grpo_train", "max_steps": 2, "val_period": 1}
START = {"call": "process_start", "process": 0, "resume_from_step": None}


def log(prefix: str, step: int, **metrics: Any) -> dict[str, Any]:
    return {"call": "log_metrics", "prefix": prefix, "step": step, "metrics": metrics}


def written(folder: Path, *lines: Any) -> str:
    path = folder / "trace.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return str(path)


CALLS = [
    START,
    {"call": "log_hyperparams", "attached": True, "params": {}},
    log("train", 9, loss=1.0) | {"attached": False},
    log("train", 1, turns=1),
    log("train", 1, loss={"__type__": "numpy.float32", "value": 0.5}, nan={"__type__": "float", "value": "nan"}),
    {"call": "log_histogram", "name": "train/h", "step": 1, "histogram": [1]},
    {"call": "sigkill"},
    START | {"process": 1},
    log("train", 2, loss={"__type__": "torch.tensor", "dtype": "float32", "shape": [], "value": 0.25}),
    log("ray", 30, util=1.0) | {"thread": "gpu-monitor"},
    {"call": "loop_raise", "exc": "RuntimeError"},
]


def test_what_was_stored_is_printed_and_held_against_what_is_expected(tmp_path: Path) -> None:
    expect = {"train_steps": [1, 2], "val_steps": [], "train_loss_points": 2, "rollout_steps": [1], "novelty": 1}
    done = CliRunner().invoke(app, ["metrics", "replay", written(tmp_path, META | {"expect": expect}, *CALLS)])
    assert done.exit_code == 0, done.output
    assert "short under replace: " in done.stdout
    assert "train_loss: 1-2" in done.stdout
    assert "not judged: novelty" in done.stdout
    assert done.stdout.splitlines()[-1] == "3 as expected, 0 not"


def test_what_is_not_as_expected_fails(tmp_path: Path) -> None:
    path = written(tmp_path, META | {"expect": {"train_steps": [1, 2, 3]}}, *CALLS)
    done = CliRunner().invoke(app, ["metrics", "replay", path, "--service", "merge"])
    assert done.exit_code == 1
    assert "NOT AS EXPECTED: train_steps: got [1, 2], want [1, 2, 3]" in done.stdout
    assert done.stdout.splitlines()[-1] == "0 as expected, 1 not"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([START], ":1: the first line of a trace is its meta line"),
        ([META | {"expect": {}}, {"call": "dance"}], ":2: unknown call 'dance'"),
        ([META | {"expect": {}}, log("train", 1)], ":2: a call before the first process_start"),
        ([[1]], ":1: a line of a trace is an object"),
    ],
)
def test_a_file_that_is_no_trace_is_a_usage_error(tmp_path: Path, lines: list[Any], message: str) -> None:
    done = CliRunner().invoke(app, ["metrics", "replay", written(tmp_path, *lines)])
    assert done.exit_code == 2
    assert message in done.stderr


def test_other_usage_errors(tmp_path: Path) -> None:
    path = written(tmp_path, META | {"expect": {}}, *CALLS)
    assert CliRunner().invoke(app, ["metrics", "replay", str(tmp_path / "absent")]).exit_code == 2
    assert CliRunner().invoke(app, ["metrics", "replay", path, "--service", "sql"]).exit_code == 2
    assert CliRunner().invoke(app, ["metrics", "replay", path, "--adapter", "no.such:thing"]).exit_code == 3
