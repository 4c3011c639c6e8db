"""Fetching a release's wheel with pip, which honours the user's index, proxy and certificates."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from contracts.gym_overflow.gym.errors import SourceUnavailable
from contracts.gym_overflow.gym.releases import DISTRIBUTION, pinned_releases

Fetcher = Callable[[str, Path], Path]
"""Puts the wheel of a release number into a folder and returns its path; raises SourceUnavailable."""

_LONGEST_WAIT_S = 900


def pip_download(release: str, folder: Path) -> Path:
    """Download one wheel, without its dependencies and without running anything of it.

    Args:
        release: release number.
        folder: an empty folder.

    Raises:
        SourceUnavailable: pip could not be run or did not bring a wheel; its own last error is in the message.
    """
    command = [
        *(sys.executable, "-m", "pip", "download", "--quiet", "--no-input", "--disable-pip-version-check"),
        # Wheels only: a source distribution would run its build script. Gym asks for newer Pythons than ours,
        # which does not matter to a file that is read.
        *("--only-binary", ":all:", "--no-deps", "--ignore-requires-python"),
        *("--dest", str(folder), f"{DISTRIBUTION}=={release}"),
    ]
    try:
        done = subprocess.run(  # noqa: S603 - no shell; the release number is matched against a pattern before
            command,
            capture_output=True,
            text=True,
            timeout=_LONGEST_WAIT_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SourceUnavailable(f"{_looked_for(release)}: pip did not finish: {error}. {_ADVICE}") from error
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode == 0 and len(wheels) == 1:
        return wheels[0]
    raise SourceUnavailable(_failure(release, done.stderr))


_ADVICE = "Try again with a network, or give the path of a wheel, a source tree or the file itself instead."


def _looked_for(release: str) -> str:
    return f"looked for {DISTRIBUTION} {release} on the package index"


def _failure(release: str, stderr: str) -> str:
    """Our message around pip's own words."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    said = "; ".join(errors[-2:]) or (lines[-1] if lines else "nothing")
    if "from versions: none" in stderr:
        cause = "no package index answered with any release (no network, a proxy, or an index without it)"
    elif "No matching distribution" in stderr:
        known = ", ".join(pinned.release for pinned in pinned_releases())
        cause = f"there is no such release; pinned ones are {known}"
    else:
        cause = "the download failed"
    return f"{_looked_for(release)}: {cause}. pip said: {said}. {_ADVICE}"
