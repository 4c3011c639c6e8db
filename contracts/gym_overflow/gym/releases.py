"""The pinned table: every NeMo Gym release that the contract was written against."""

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources

FILE = "responses_api_models/vllm_model/app.py"
"""Where every Gym, packed or not, keeps the file with the classifier, relative to its root."""

DISTRIBUTION = "nemo-gym"
"""Gym's name on a package index."""


@dataclass(frozen=True)
class Release:
    """One published release.

    Attributes:
        release: its number.
        wheel: the wheel's file name.
        wheel_sha256: SHA-256 of the wheel, in hexadecimal.
        wheel_bytes: the wheel's size in bytes.
        file: the file with the classifier, relative to the wheel's root.
        file_sha256: SHA-256 of that file, in hexadecimal.
        sites: lines (from 1) on which the classifier's variable is assigned.
        requires_python: the Pythons the release asks for. It is read, not installed, so any Python will do here.
    """

    release: str
    wheel: str
    wheel_sha256: str
    wheel_bytes: int
    file: str
    file_sha256: str
    sites: tuple[int, ...]
    requires_python: str


@cache
def pinned_releases() -> tuple[Release, ...]:
    """The pinned releases, oldest first."""
    rows = json.loads(resources.files(__package__).joinpath("releases.json").read_text("utf-8"))
    return tuple(Release(**{**row, "sites": tuple(row["sites"])}) for row in rows)


def pinned_release(number: str) -> Release | None:
    """The pinned release of that number, or None. `0.7` and `0.7.0` are the same number, as an index sees them."""
    wanted = _significant(number)
    return next((release for release in pinned_releases() if _significant(release.release) == wanted), None)


def is_pinned_file(sha256: str) -> bool:
    """Whether any pinned release's file has this hash."""
    return any(release.file_sha256 == sha256 for release in pinned_releases())


def _significant(number: str) -> str:
    while number.endswith(".0"):
        number = number.removesuffix(".0")
    return number
