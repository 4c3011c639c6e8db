"""Finding the installed Gym's file without importing any of it."""

import importlib.util
from importlib import metadata
from pathlib import Path

from contracts.gym_overflow.gym.errors import SourceUnavailable
from contracts.gym_overflow.gym.releases import DISTRIBUTION, FILE


def installed_file() -> tuple[Path, str | None]:
    """The path of the installed file, and the release that the installed distribution says it is.

    Raises:
        SourceUnavailable: Gym is not installed here, or what is installed lacks the file.
    """
    release: str | None = None
    looked = []
    try:
        distribution = metadata.distribution(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        looked.append(f"no distribution {DISTRIBUTION}")
    else:
        release = distribution.version
        file = Path(str(distribution.locate_file(FILE)))
        if file.is_file():
            return file, release
        looked.append(f"{DISTRIBUTION} {release} without {file}")
    # An editable install, or a checkout on the path. Only the top-level name is asked for: a dotted one would
    # import its parents.
    package, _, rest = FILE.partition("/")
    spec = importlib.util.find_spec(package)
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        file = Path(folder) / rest
        if file.is_file():
            return file, release
        looked.append(f"no {file}")
    raise SourceUnavailable(
        f"looked for the installed NeMo Gym's {FILE} in this Python and found {'; '.join(looked)}. "
        f"Install Gym beside rl-contracts, or give a release number, a wheel, a source tree or the file itself."
    )
