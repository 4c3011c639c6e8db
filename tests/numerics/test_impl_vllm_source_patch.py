"""The source patch: whole or not at all, once, and back."""

from __future__ import annotations

import multiprocessing
import stat
from pathlib import Path

import pytest

from impl.numerics.vllm.source_patch import (
    ANCHOR,
    LOCK_TIMEOUT_S,
    SourcePatchError,
    is_patched,
    patch_file,
    patched,
    restore_file,
    restored,
)

TEXT = f"""class Other:
    def compute_logits(self):
        return None


class NemotronHForCausalLM:
    def compute_logits(self, hidden_states):
{ANCHOR})
        return logits
"""
VERSION = "0.25.0"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    found = tmp_path / "nemotron_h.py"
    found.write_text(TEXT)
    return found


def test_it_is_applied_once_and_taken_back_to_the_byte(file: Path) -> None:
    file.chmod(0o640)
    assert patch_file(file, VERSION)
    once = file.read_text()
    assert is_patched(once)
    assert once != TEXT
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert not patch_file(file, VERSION)
    assert file.read_text() == once
    assert restore_file(file)
    assert file.read_text() == TEXT
    assert not restore_file(file)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (TEXT.replace("self.lm_head", "self.output"), "has 0 times, and not once"),
        (TEXT + TEXT, "has 2 times, and not once"),
        (TEXT + patched(TEXT, Path("f"), VERSION), "has 1 times, and not once"),
        (TEXT.replace("NemotronHForCausalLM", "Elsewhere"), r"not in NemotronHForCausalLM\.compute_logits"),
        (TEXT.replace("def compute_logits(self, hidden", "def compute(self, hidden"), "Nothing was written"),
    ],
)
def test_what_it_does_not_know_it_refuses_and_leaves(file: Path, text: str, words: str) -> None:
    file.write_text(text)
    before = file.stat()
    with pytest.raises(SourcePatchError, match=words) as error:
        patch_file(file, VERSION)
    assert str(file) in str(error.value)
    assert f"vLLM {VERSION}" in str(error.value)
    assert file.read_text() == text
    assert file.stat().st_mtime_ns == before.st_mtime_ns
    assert [path.name for path in file.parent.iterdir() if "lock" not in path.name] == [file.name]


def test_a_text_that_would_not_compile_is_not_written(file: Path) -> None:
    text = TEXT.replace("        return logits\n", "        return logits )\n")
    file.write_text(text)
    with pytest.raises(SyntaxError):
        patch_file(file, VERSION)
    assert file.read_text() == text


def test_an_unwritable_folder_leaves_the_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_arguments: object) -> None:
        raise PermissionError("read-only file system")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(PermissionError):
        patch_file(file, VERSION)
    assert file.read_text() == TEXT
    assert [path.name for path in file.parent.iterdir() if "lock" not in path.name] == [file.name]


def test_other_line_ends_come_back_too(file: Path) -> None:
    before = TEXT.replace("\n", "\r\n").encode()
    file.write_bytes(before)
    assert patch_file(file, VERSION)
    assert is_patched(file.read_text())
    assert restore_file(file)
    assert file.read_bytes() == before


def _patch(path: str, answers: multiprocessing.Queue[bool]) -> None:
    answers.put(patch_file(Path(path), VERSION))


def test_of_many_processes_one_patches(file: Path) -> None:
    context = multiprocessing.get_context("spawn")
    answers: multiprocessing.Queue[bool] = context.Queue()
    processes = [context.Process(target=_patch, args=(str(file), answers)) for _ in range(4)]
    for process in processes:
        process.start()
    changed = [answers.get(timeout=LOCK_TIMEOUT_S) for _ in processes]
    for process in processes:
        process.join(timeout=LOCK_TIMEOUT_S)
    assert sorted(changed) == [False, False, False, True]
    assert is_patched(file.read_text())
    assert restored(file.read_text()) == TEXT


def test_arguments_after_the_anchor_stay(file: Path) -> None:
    """Older versions hand the sampling metadata on, some on a line of its own."""
    text = TEXT.replace(f"{ANCHOR})", f"{ANCHOR},\n                                       sampling_metadata)")
    file.write_text(text)
    patch_file(file, VERSION)
    after = file.read_text()
    assert "lm_head_for(self), hidden_states,\n                                       sampling_metadata)" in after
    assert restored(after) == text
