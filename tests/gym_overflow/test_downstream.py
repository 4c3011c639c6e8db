"""A downstream with nothing but the built wheel, in a folder of its own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from contracts import gym_overflow

ROOT = Path(__file__).parents[2]
ACME = Path(__file__).parent / "downstream" / "acme.py"
PAGE = ROOT / "docs" / "adopting-gym-overflow.md"


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds the wheel's own files and nothing else."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
    build = [sys.executable, "-m", "build", "--wheel", "--outdir", str(folder), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)  # noqa: S603 - our own command
    (wheel,) = folder.glob("*.whl")
    site = folder / "site-packages"
    subprocess.run([*pip, "install", "--no-deps", "--target", str(site), str(wheel)], check=True)  # noqa: S603 - as above
    return site


@pytest.fixture
def project(tmp_path: Path) -> Path:
    shutil.copy(ACME, tmp_path)
    return tmp_path


def example() -> str:
    """The test file that the page shows."""
    return next(re.finditer(r"```python test_acme.py\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)).group(1)


def expecting(known_failures: str) -> str:
    """The same, with known failures named at the call."""
    test = example().replace(".parametrize()", f".parametrize(known_failures={known_failures})")
    return test.replace("import gym_overflow", "import KnownFailure, gym_overflow")


def python(installed: Path, project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(installed), "PYTHONSAFEPATH": ""}
    environment |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "contracts.pytest_plugin"}
    return subprocess.run(  # noqa: S603 - our own command
        [sys.executable, *arguments], cwd=project, env=environment, capture_output=True, text=True, check=False
    )


def run(installed: Path, project: Path, test: str, *arguments: str) -> tuple[int, str]:
    (project / "test_acme.py").write_text(test, "utf-8")
    ran = python(installed, project, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments)
    return ran.returncode, ran.stdout + ran.stderr


def test_the_example_has_at_most_fifteen_lines_of_code() -> None:
    lines = [line for line in example().splitlines() if line.strip()]
    assert 0 < len(lines) <= 15


def test_only_the_wheels_own_files_are_used(installed: Path, project: Path) -> None:
    names = {path.name for path in installed.iterdir() if not path.name.endswith(".dist-info")}
    assert names <= {"contracts", "impl", "bin"}
    shown = python(installed, project, "-c", "import contracts; print(contracts.__file__)")
    assert Path(shown.stdout.strip()) == installed / "contracts" / "__init__.py"


def test_a_conforming_server_passes(installed: Path, project: Path) -> None:
    code, output = run(installed, project, example(), "-v")
    assert code == 0, output
    assert str(installed / "contracts") in output
    passed, skipped = map(int, re.findall(r"(\d+) passed, (\d+) skipped", output)[0])
    assert passed + skipped == len(gym_overflow.endpoint.at())
    assert passed > 15


def test_the_mutants_are_found_on_the_servers_own_adapter(installed: Path, project: Path) -> None:
    mutants = """
@gym_overflow.endpoint.parametrize_mutants()
def test_mutants(adapter, mutant):
    mutant.verify_killed(adapter)
"""
    code, output = run(installed, project, example() + mutants, "-v", "-k", "test_mutants")
    assert code == 0, output
    passed, skipped = map(int, re.findall(r"(\d+) passed, (\d+) skipped", output)[0])
    assert passed + skipped == len(gym_overflow.endpoint.mutants)
    assert passed > 30


def test_small_windows_work(installed: Path, project: Path) -> None:
    test = (
        example()
        .replace('scope="session"', 'scope="session", params=[16, 20, 64]')
        .replace("adapter():", "adapter(request):")
    )
    test = test.replace("build_app()", "build_app(max_model_len=request.param)")
    code, output = run(installed, project, test, "--contracts-profile", "smoke")
    assert code == 0, output


def test_a_broken_server_fails_readably(installed: Path, project: Path) -> None:
    test = example().replace("build_app()", "build_app(term='max_model_len', overflow_status=500)")
    code, output = run(installed, project, test, "--contracts-only", "GO-101,GO-102,GO-104")
    assert code == 1, output
    assert "2 failed, 1 passed" in output
    for line in (
        r"E +contracts\.failure\.ContractFailure: GO-101 an overflow has the wrong status",
        r"E +claim   = A prompt that leaves no room for one token is answered with status 400\.",
        r"E +got     = 500 .*The max_model_len is 32 tokens, and the prompt has 32\.",
        r"E +want    = 400",
        r"E +case    = Probe\(offset=0, output_limit=None, turns=1, lead=''\)",
        r"E +source  = NVIDIA-NeMo/Gym client, measured",
        r"E +explain = python -m contracts explain GO-101",
        r"E +replay  = contracts\.load\('gym_overflow\.endpoint'\)\['GO-101'\]\.verify\(adapter, case='\{\"offset\": 0",
        r"E +contracts\.failure\.ContractFailure: GO-102 error\.message lacks 'maximum context length'",
    ):
        assert re.search(line, output), f"{line}\n{output}"


def test_a_server_that_raises_fails_and_shows_its_exception(installed: Path, project: Path) -> None:
    """The overflow is a bare 500, and pytest shows the log of what was raised."""
    (project / "acme.py").write_text(
        ACME.read_text("utf-8").replace("return _error(overflow_status, text", "raise RuntimeError(text")
    )
    code, output = run(installed, project, example(), "--contracts-only", "GO-101")
    assert code == 1, output
    assert re.search(r"got     = 500 Internal Server Error", output)
    assert "RuntimeError: ('The maximum context length is 32 tokens" in output


def test_a_known_failure_is_strict(installed: Path, project: Path) -> None:
    test = expecting('{"GO-121": KnownFailure("does not clamp", issue="acme/server#12")}')
    code, output = run(installed, project, test, "--contracts-only", "GO-121", "--contracts-profile", "smoke")
    assert code == 1, output
    assert "[XPASS(strict)] does not clamp (acme/server#12)" in output
    (project / "acme.py").write_text(
        ACME.read_text("utf-8").replace(
            "if prompt >= max_model_len:", "if prompt + body.get('max_tokens', 1) > max_model_len:"
        )
    )
    code, output = run(installed, project, test, "--contracts-only", "GO-121", "--contracts-profile", "smoke")
    assert code == 0, output
    assert "1 xfailed" in output


def test_an_unknown_id_is_an_error(installed: Path, project: Path) -> None:
    test = expecting('{"GO-999": KnownFailure("does not clamp", issue="acme/server#12")}')
    code, output = run(installed, project, test)
    assert code not in {0, 1}, output
    assert "gym_overflow.endpoint has no check 'GO-999'; it has GO-101" in output


def test_an_unknown_capability_is_an_error(installed: Path, project: Path) -> None:
    code, output = run(installed, project, example().replace('"streaming"', '"stream"'), "--contracts-only", "GO-101")
    assert code == 1, output
    assert "the adapter declares unknown capabilities stream; gym_overflow.endpoint knows" in output


def test_the_command_line_replays_what_it_printed(installed: Path, project: Path) -> None:
    (project / "held.py").write_text(
        "from acme import build_app\nfrom contracts.http import AsgiAdapter\n"
        "def adapter():\n    return AsgiAdapter(build_app(overflow_status=422), capabilities={'streaming'})\n"
    )
    command = ("-m", "contracts", "run", "gym_overflow.endpoint", "--adapter", "held:adapter", "--gym", "0.7.0")
    first = python(installed, project, *command, "--only", "GO-101,GO-104")
    assert first.returncode == 1, first.stdout + first.stderr
    assert first.stdout.splitlines()[-1] == "1 passed, 1 failed, 0 known, 0 skipped"
    (line,) = re.findall(r"replay  = (.*)", first.stdout)
    replayed = subprocess.run(  # noqa: S602 - the printed line is meant for a shell
        line.replace("python", sys.executable, 1),
        shell=True,
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert replayed.returncode == 1, replayed.stderr
    assert replayed.stdout.splitlines()[-1] == "0 passed, 1 failed, 0 known, 0 skipped"
    assert re.findall(r"got .*", replayed.stdout) == re.findall(r"got .*", first.stdout)
