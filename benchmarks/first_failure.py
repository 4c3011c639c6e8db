"""A new user's path, timed: from ``pip install`` of the wheel to the first readable failure of their own endpoint.

``python benchmarks/first_failure.py [WHEEL]``; without a wheel it builds one, which is not timed.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
MOST_LINES = 15
#: A broken endpoint, and the test that holds it. An overflow is a 500, as where it is raised as a plain ValueError.
ENDPOINT = """\
from fastapi import Body, FastAPI

app = FastAPI()


@app.get("/v1/models")
def models():
    return {"data": [{"id": "mine", "max_model_len": 32}]}


@app.post("/v1/chat/completions")
def chat(messages: list = Body(), max_tokens: int = Body(4)):
    prompt = sum(len(message["content"].split()) for message in messages)
    if prompt >= 32:
        raise ValueError("the prompt is too long")
    text = " ".join(["word"] * min(max_tokens, 32 - prompt))
    return {"choices": [{"message": {"content": text}, "finish_reason": "length"}], "usage": {"prompt_tokens": prompt}}
"""
TEST = """\
import pytest
from contracts import gym_overflow
from contracts.http import AsgiAdapter
from endpoint import app

@pytest.fixture(scope="session")
def adapter():
    with AsgiAdapter(app) as live:
        yield live

@gym_overflow.endpoint.parametrize(version="1.0")
def test_overflow(adapter, check):
    check.verify(adapter)
"""


def main() -> int:
    """Print the seconds of each stage, the lines of code and the failure; fail if there is none to read."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel = Path(sys.argv[1]) if len(sys.argv) > 1 else built(folder)
        (folder / "endpoint.py").write_text(ENDPOINT, encoding="utf-8")
        (folder / "test_endpoint.py").write_text(TEST, encoding="utf-8")
        python = folder / "venv" / "bin" / "python"
        began = time.perf_counter()
        venv.create(folder / "venv", with_pip=True)
        made = time.perf_counter()
        run(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", f"{wheel}[gym-overflow,pytest]")
        installed = time.perf_counter()
        tested = run(python, "-m", "pytest", "-q", "-x", "test_endpoint.py", folder=folder, fails=True)
        failed = time.perf_counter()
        packages = run(python, "-m", "pip", "list", "--format=freeze", "--disable-pip-version-check")
    lines = sum(bool(line.strip()) for line in TEST.splitlines())
    stages = {"environment": made - began, "install": installed - made, "pytest": failed - installed}
    print("\n".join(f"{stage:11} {seconds:6.1f} s" for stage, seconds in stages.items()))
    print(f"in all      {failed - began:6.1f} s, {lines} lines of code\n")
    failure = [line[1:].strip() for line in tested.splitlines() if line.startswith("E  ")]
    print("\n".join(failure))
    heavy = [line for line in packages.splitlines() if line.startswith(("torch", "vllm", "numpy"))]
    readable = all(any(word in line for line in failure) for word in ("GO-101", "got", "want", "case", "replay"))
    if heavy:
        print(f"installing one room brought {', '.join(heavy)}")
    return int(bool(heavy) or not readable or lines >= MOST_LINES)


def built(folder: Path) -> Path:
    """A wheel of this tree."""
    run(Path(sys.executable), "-m", "build", "--wheel", "--outdir", str(folder), str(ROOT))
    (wheel,) = folder.glob("*.whl")
    return wheel


def run(python: Path, *arguments: str, folder: Path | None = None, fails: bool = False) -> str:
    """What a Python command prints.

    Raises:
        RuntimeError: If it fails, or does not fail where it should.
    """
    done = subprocess.run(  # noqa: S603 - our own command
        [str(python), *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    if bool(done.returncode) is not fails:
        raise RuntimeError(f"{' '.join(arguments)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
