"""The fp32 head as a change of NemotronH's source, for a vLLM that offers no better place.

Engine-core and worker processes never see what was patched in their parent's memory; a changed file they all read.
The change hands the logits processor a head whose product is fp32, so gathering, padding, scale and soft cap stay
vLLM's own. With the switch off the changed file computes what it computed before, from the same object.
"""

from __future__ import annotations

import ast
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock

if TYPE_CHECKING:
    from collections.abc import Callable

CLASS, METHOD = "NemotronHForCausalLM", "compute_logits"

ANCHOR = "        logits = self.logits_processor(self.lm_head, hidden_states"
"""What the method does in every vLLM of this kind, up to where their arguments part."""

CHANGED = (
    "        from impl.numerics.vllm.patched_head import lm_head_for  # rl-contracts: fp32 lm_head\n"
    "        logits = self.logits_processor(lm_head_for(self), hidden_states"
)

LOCK_TIMEOUT_S = 60.0


class SourcePatchError(RuntimeError):
    """A source file that is not as the patch knows it; nothing was written."""


def is_patchable(text: str) -> bool:
    """Whether a file is as the patch knows it, or patched already."""
    return is_patched(text) or (text.count(ANCHOR) == 1 and _within_method(text, ANCHOR))


def is_patched(text: str) -> bool:
    """Whether a file is patched."""
    return text.count(CHANGED) == 1 and ANCHOR not in text


def patched(text: str, file: Path, version: str) -> str:
    """The text with the patch; a patched one as it is.

    Raises:
        SourcePatchError: the anchor is not there exactly once, in `METHOD` of `CLASS`.
    """
    if is_patched(text):
        return text
    where = f"{file} (vLLM {version})"
    if (count := text.count(ANCHOR)) != 1 or CHANGED in text:
        raise SourcePatchError(
            f"{where} has {count} times, and not once, the line {ANCHOR.strip()!r} that the fp32 lm_head's patch "
            f"changes: this version is not known to it. Nothing was written. Use a vLLM with head_dtype (0.26 on), or "
            f"turn the fp32 head off on both sides"
        )
    if not _within_method(text, ANCHOR):
        raise SourcePatchError(
            f"{where} has the line that the fp32 lm_head's patch changes, but not in {CLASS}.{METHOD}. "
            f"Nothing was written"
        )
    return text.replace(ANCHOR, CHANGED)


def restored(text: str) -> str:
    """The text without the patch; an unpatched one as it is."""
    return text.replace(CHANGED, ANCHOR)


def patch_file(file: Path, version: str) -> bool:
    """Patch a file, whole or not at all; returns whether it changed.

    Raises:
        SourcePatchError: as `patched`.
        OSError: it cannot be written.
    """
    return _rewrite(file, lambda text: patched(text, file, version))


def restore_file(file: Path) -> bool:
    """Take the patch back; returns whether the file changed."""
    return _rewrite(file, restored)


def _rewrite(file: Path, change: Callable[[str], str]) -> bool:
    """Change a file under its lock, in one step that a reader sees before or after, never between."""
    with FileLock(file.with_name(f".{file.name}.rl-contracts.lock"), timeout=LOCK_TIMEOUT_S):
        # Line ends as they are: what is taken back must be the file to the byte.
        with file.open(encoding="utf-8", newline="") as old:
            before = old.read()
        after = change(before)
        if after == before:
            return False
        compile(after, str(file), "exec")
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", newline="", dir=file.parent, prefix=f".{file.name}.", delete=False
        ) as new:
            place = Path(new.name)
            try:
                new.write(after)
                new.flush()
                os.fsync(new.fileno())
                place.chmod(file.stat().st_mode)
                place.replace(file)
            except BaseException:
                place.unlink(missing_ok=True)
                raise
    return True


def _within_method(text: str, anchor: str) -> bool:
    """Whether a line stands in the one method that the patch means."""
    line = text[: text.index(anchor)].count("\n") + 1
    return any(
        isinstance(method, ast.FunctionDef)
        and method.name == METHOD
        and method.lineno <= line <= (method.end_lineno or 0)
        for model in ast.parse(text).body
        if isinstance(model, ast.ClassDef) and model.name == CLASS
        for method in model.body
    )
