"""The examples as what they are: projects of others, with nothing of ours but the installed wheel."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
#: Example to its contract, its known failure, and how many of its checks must have passed, in pytest and elsewhere.
EXAMPLES = {
    "downstream_endpoint": ("gym_overflow.endpoint", "GO-102", 16),
    "downstream_logger": ("metrics_wire.logger", "MW-305", 19),
    "downstream_engine": ("numerics.head", None, 14),
}
every_example = pytest.mark.parametrize("name", EXAMPLES)

pytestmark = pytest.mark.downstream


@pytest.fixture
def project(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A copy of one example, in a folder of its own."""
    return Path(shutil.copytree(ROOT / "examples" / request.node.callspec.params["name"], tmp_path / "project"))


def ran(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A run of this environment's Python in ``folder``, which sees nothing else of ours."""
    environment = {
        name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "GITHUB_STEP_SUMMARY"}
    }
    return subprocess.run(  # noqa: S603 - our own command
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_contracts_are_those_of_the_wheel(tmp_path: Path) -> None:
    program = "import contracts, impl; print(contracts.__file__); print(impl.__file__)"
    shown = ran(tmp_path, "-c", program).stdout.splitlines()
    site = Path(sysconfig.get_path("purelib")).resolve()
    assert [Path(path).resolve().parent.parent for path in shown] == [site, site], "run me by tox -e downstream"


@every_example
def test_pytest_and_the_command_line_say_the_same(project: Path, name: str) -> None:
    contract, known, passes = EXAMPLES[name]
    tested = ran(project, "-m", "pytest", "-q", "--contracts-profile", "smoke", "--contracts-report", "pytest.jsonl")
    assert tested.returncode == 0, tested.stdout + tested.stderr
    assert ("1 xfailed" in tested.stdout) is (known is not None)
    command = ("-m", "contracts", "run", contract, "--adapter", "acme_contract:adapter", "--profile", "smoke")
    called = ran(project, *command, "--html", "report.html")
    assert called.returncode == 0, called.stdout + called.stderr
    totals = called.stdout.splitlines()[-1]
    passed, failed, expected, skipped = map(int, re.findall(r"\d+", totals))
    assert (failed, expected) == (0, int(known is not None))
    assert passed >= passes
    assert passed + expected + skipped == int(re.findall(r"(\d+) checks", listed(project, contract))[0])
    # pytest tried the mutants too, and their totals follow.
    reported = ran(project, "-m", "contracts", "report", "pytest.jsonl")
    assert reported.returncode == 0, reported.stdout
    assert reported.stdout.splitlines()[-1].partition(";")[0] == totals
    assert known is None or f"known: {known} on acme" in called.stdout


def listed(folder: Path, contract: str) -> str:
    return ran(folder, "-m", "contracts", "list", contract).stdout.splitlines()[-1]


@every_example
def test_a_known_failure_is_strict_in_both(project: Path, name: str) -> None:
    contract, known, _ = EXAMPLES[name]
    pyproject = project / "pyproject.toml"
    text = pyproject.read_text("utf-8")
    other = {"gym_overflow.endpoint": "GO-101", "metrics_wire.logger": "MW-101", "numerics.head": "NU-101"}[contract]
    entry = f'{other} = {{reason = "said to fail", issue = "acme#1"}}\n'
    pyproject.write_text(text + ("" if known else "\n[tool.contracts.known-failures]\n") + entry)
    tested = ran(project, "-m", "pytest", "-q", "--contracts-only", other, "--contracts-profile", "smoke")
    assert "[XPASS(strict)] said to fail (acme#1)" in tested.stdout, tested.stdout
    command = ("-m", "contracts", "run", contract, "--adapter", "acme_contract:adapter", "--only", other)
    called = ran(project, *command, "--profile", "smoke")
    assert "the check passes although it is a known failure" in called.stdout
    assert (tested.returncode, called.returncode) == (1, 1)


@pytest.fixture(scope="session")
def mypy(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """A strict mypy, whose runs share what they know of the libraries."""
    return ("-m", "mypy", "--strict", "--cache-dir", str(tmp_path_factory.mktemp("mypy")))


@every_example
def test_the_adapter_is_type_checked_against_the_wheel(project: Path, name: str, mypy: tuple[str, ...]) -> None:
    checked = ran(project, *mypy, *(path.name for path in project.glob("acme_*.py")))
    assert checked.returncode == 0, f"{name}: {checked.stdout}"


def test_the_wheels_types_are_seen(tmp_path: Path, mypy: tuple[str, ...]) -> None:
    (tmp_path / "wrong.py").write_text("import contracts\ncontracts.KnownFailure(reason=1, issue='acme#1')\n")
    refused = ran(tmp_path, *mypy, "wrong.py")
    assert 'wrong.py:2: error: Argument "reason" to "KnownFailure" has incompatible type "int"' in refused.stdout


@every_example
def test_every_mutant_is_killed_on_an_implementation_of_others(project: Path, name: str) -> None:
    contract, known, passes = EXAMPLES[name]
    tried = ran(project, "-m", "contracts", "mutants", contract, "--adapter", "acme_contract:adapter")
    killed, survived, inconclusive = map(int, re.findall(r"\d+", tried.stdout.splitlines()[-1]))
    assert (killed > passes, survived, inconclusive, tried.returncode) == (True, 0, 0, 0), tried.stdout
    assert (f"not tried: {known} is a known failure here" in tried.stdout) is (known is not None)
