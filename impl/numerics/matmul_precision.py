"""TF32 for one GEMM and no other.

Torch keeps the setting in a flag of the whole process. Two threads that save and restore it around their
own GEMMs can interleave so that the flag stays changed for good; a lock held from the saving to the
restoring prevents that. It is held for a kernel *launch*, not for the kernel, so it costs nothing beside
a head GEMM. What no lock of ours can prevent: an fp32 GEMM that another thread launches in just these
microseconds, outside this module, runs in the precision set here.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

_flag_lock = threading.RLock()


def _read() -> str | bool:
    """The flag as it stands, through the one interface that never disagrees with itself."""
    matmul = torch.backends.cuda.matmul
    setting: str | bool
    # The older allow_tf32 raises once the newer fp32_precision was ever set to something else, and setting
    # it loses "medium"; the newer exists since torch 2.9.
    setting = matmul.fp32_precision if hasattr(matmul, "fp32_precision") else matmul.allow_tf32
    return setting


def _write(value: str | bool) -> None:  # noqa: FBT001 - the older interface's own value
    """Set the flag through the interface that `_read` read it from."""
    if isinstance(value, bool):
        torch.backends.cuda.matmul.allow_tf32 = value
    else:
        torch.backends.cuda.matmul.fp32_precision = value


@contextmanager
def fp32_matmul_precision(*, tf32: bool) -> Iterator[None]:
    """Run the enclosed fp32 matrix products on CUDA in TF32, or in full fp32 whatever the process allows.

    The previous setting returns however the block ends. Other threads' blocks wait.

    Args:
        tf32: True for TF32 (10-bit mantissa inputs, fp32 accumulation), False for full fp32.
    """
    with _flag_lock:
        before = _read()
        _write(tf32 if isinstance(before, bool) else ("tf32" if tf32 else "ieee"))
        try:
            yield
        finally:
            _write(before)


def matmul_flags() -> dict[str, str]:
    """Return every process-wide setting that decides how torch multiplies fp32 matrices, by name."""
    flags = {"cuda.matmul": str(_read()), "autocast": str(torch.is_autocast_enabled("cuda"))}
    if hasattr(torch.backends, "fp32_precision"):
        flags["all"] = str(torch.backends.fp32_precision)
        flags["mkldnn.matmul"] = str(torch.backends.mkldnn.matmul.fp32_precision)  # type: ignore[attr-defined]  # torch sets it when loaded
    return flags
