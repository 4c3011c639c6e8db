"""What was asked for and is not there fails the run: it never shows as a skip."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(*arguments: str, **environment: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/core/test_case.py", *arguments]
    done = subprocess.run(  # noqa: S603 - pytest itself
        command, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def test_required_engines_that_are_missing_fail_the_run(tmp_path: Path) -> None:
    (tmp_path / "without.py").write_text("import sys\n\nsys.modules['vllm'] = None\n")
    tests = ("-p", "without", "tests/numerics/test_engine_vllm_processes.py")
    code, output = run(*tests, CONTRACTS_REQUIRE="engine", PYTHONPATH=str(tmp_path))
    assert code == 1
    assert "tests marked engine were asked for and would skip: vllm cannot be imported" in output
    code, output = run(*tests, PYTHONPATH=str(tmp_path))
    assert code == 0
    assert "needs vllm, as in tox -e engines" in output


@pytest.mark.parametrize(("arguments", "environment"), [(("-m", "gpu"), {}), ((), {"CONTRACTS_REQUIRE": "gpu"})])
def test_a_required_device_that_is_missing_fails_the_run(
    arguments: tuple[str, ...], environment: dict[str, str]
) -> None:
    code, output = run(*arguments, CUDA_VISIBLE_DEVICES="", **environment)
    assert code == 1
    assert "GPU tests were asked for" in output


def test_a_requirement_that_nobody_knows_fails_the_run() -> None:
    code, output = run(CONTRACTS_REQUIRE="postgresql,brwser")
    assert code == 1
    assert "CONTRACTS_REQUIRE names brwser" in output


@pytest.mark.parametrize(("required", "code", "outcome"), [("", 0, "2 skipped"), ("postgresql,browser", 1, "2 errors")])
def test_required_programs_that_are_missing_are_an_error(
    required: str, code: int, outcome: str, tmp_path: Path
) -> None:
    tests = (
        "tests/metrics_wire/test_processes_postgresql.py::test_a_command_finds_the_server_and_its_status_is_the_commands",
        "tests/metrics_wire/test_page_jobs.py::test_the_list_follows_the_jobs",
    )
    (tmp_path / "without.py").write_text(
        "import chromium, postgresql\n\nchromium.programs = postgresql.programs = str\n"
    )
    folders = (ROOT / "tests" / "programs", ROOT / "tests" / "metrics_wire" / "processes", tmp_path)
    path = os.pathsep.join(map(str, folders))
    seen = run("-p", "without", *tests, CONTRACTS_REQUIRE=required, PYTHONPATH=path)
    assert seen[0] == code, seen[1]
    assert outcome in seen[1]


def test_leaving_gpu_tests_out_asks_for_no_device() -> None:
    code, output = run("-m", "not gpu", CUDA_VISIBLE_DEVICES="")
    assert code == 0, output
