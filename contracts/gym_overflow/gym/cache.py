"""The cache of Gym releases: one file per release, written once, checked on every read."""

import hashlib
import os
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from contracts.gym_overflow.gym.errors import SourceUnavailable
from contracts.gym_overflow.gym.fetch import Fetcher
from contracts.gym_overflow.gym.releases import Release, pinned_release
from contracts.gym_overflow.gym.source import sha256_of
from contracts.gym_overflow.gym.wheel import read_file

Progress = Callable[[str], None]
"""Takes one line that says what takes a while."""

_HASH_NAME = "app.py.sha256"


def default_cache() -> Path:
    """`$CONTRACTS_CACHE`, or `rl-contracts` in the user's cache folder."""
    if chosen := os.environ.get("CONTRACTS_CACHE"):
        return Path(chosen)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "rl-contracts"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rl-contracts"


def cached_file(release: str, cache: Path, fetch: Fetcher, progress: Progress) -> bytes:
    """The bytes of a release's file, from the cache or, once, from the index.

    A pinned release is checked against the pinned hashes of wheel and file; an unpinned one against the hash
    that was noted when it was fetched. A cached file that fails its check is fetched again, never used.

    Args:
        release: release number.
        cache: the cache's root.
        fetch: brings the wheel.
        progress: told about a fetch before it starts.

    Raises:
        SourceUnavailable: it could not be fetched, is not what was pinned, or the cache cannot be written.
    """
    pinned = pinned_release(release)
    number = release if pinned is None else pinned.release
    folder = cache / "gym" / number
    file = folder / "app.py"
    try:
        data = file.read_bytes() if file.exists() else None
        if data is not None:
            if sha256_of(data) == _expected(pinned, folder):
                return data
            progress(f"cached NeMo Gym {number} in {folder} is not the file that was fetched: fetching it again")
        progress(f"fetching NeMo Gym {number} ({_size(pinned)}, once)")
        data = _fetched(number, pinned, fetch)
        folder.mkdir(parents=True, exist_ok=True)
        if pinned is None:
            _replace(folder / _HASH_NAME, sha256_of(data).encode())
        _replace(file, data)
    except OSError as error:
        raise SourceUnavailable(
            f"NeMo Gym {number}: the cache folder {folder} cannot be used: {error}. "
            f"Set CONTRACTS_CACHE to a folder that can be written."
        ) from error
    return data


def _expected(pinned: Release | None, folder: Path) -> str:
    if pinned is not None:
        return pinned.file_sha256
    noted = folder / _HASH_NAME
    return noted.read_text("utf-8", errors="replace") if noted.exists() else ""


def _size(pinned: Release | None) -> str:
    return "not a pinned release" if pinned is None else f"{pinned.wheel_bytes / 1e6:.0f} MB"


def _fetched(number: str, pinned: Release | None, fetch: Fetcher) -> bytes:
    """Fetch the wheel, keep its one file, let the wheel go."""
    with tempfile.TemporaryDirectory(prefix="rl-contracts-gym-") as folder:
        wheel = fetch(number, Path(folder))
        if pinned is not None:
            with wheel.open("rb") as opened:
                found = hashlib.file_digest(opened, "sha256").hexdigest()
            _check(number, f"wheel {wheel.name}", found, pinned.wheel_sha256)
        data = read_file(wheel)
    if pinned is not None:
        _check(number, pinned.file, sha256_of(data), pinned.file_sha256)
    return data


def _check(number: str, what: str, found: str, wanted: str) -> None:
    if found != wanted:
        raise SourceUnavailable(
            f"NeMo Gym {number}: the {what} that was fetched has SHA-256 {found}, pinned is {wanted}: it is not the "
            f"published one and is not used. Check which package index answers."
        )


def _replace(file: Path, data: bytes) -> None:
    """Write a whole file or nothing, also with several processes at it."""
    handle, written = tempfile.mkstemp(dir=file.parent, prefix=f"{file.name}.")
    try:
        with os.fdopen(handle, "wb") as opened:
            opened.write(data)
        Path(written).replace(file)
    except BaseException:
        Path(written).unlink(missing_ok=True)
        raise


RELEASE_NUMBER = re.compile(r"\d+(\.\d+)+((a|b|rc|\.post|\.dev)\d+)*")
"""What a release number looks like; whatever else is given is a path."""
