"""From what a user writes (a release, a wheel, a tree, a file, `installed`) to a Gym source."""

from pathlib import Path

from contracts.gym_overflow.gym.cache import RELEASE_NUMBER, Progress, cached_file, default_cache
from contracts.gym_overflow.gym.errors import SourceUnavailable
from contracts.gym_overflow.gym.fetch import Fetcher, pip_download
from contracts.gym_overflow.gym.installed import installed_file
from contracts.gym_overflow.gym.releases import FILE, is_pinned_file, pinned_release
from contracts.gym_overflow.gym.source import GymSource, sha256_of
from contracts.gym_overflow.gym.wheel import decoded, read_file


def _silent(line: str) -> None:
    del line


def load_gym(
    spec: str, *, cache: Path | None = None, progress: Progress | None = None, fetch: Fetcher = pip_download
) -> GymSource:
    """Find and read one Gym. Its classifiers are looked for when `GymSource.sites` is first asked for.

    Args:
        spec: a release number ("0.7.0"), the path of a wheel, of a source tree or of the file itself, or
            "installed". Whatever looks like a release number is one; write `./0.7.0` for a folder of that name.
        cache: root of the cache of releases; by default `$CONTRACTS_CACHE` or the user's cache folder.
        progress: called with one line before a download; silent by default.
        fetch: brings a release's wheel; pip by default.

    Raises:
        SourceUnavailable: nothing to read there.
        SourceUnreadable: the file is no UTF-8 text.
    """
    if spec == "installed":
        file, release = installed_file()
        name = "NeMo Gym (installed)" if release is None else f"NeMo Gym {release} (installed)"
        return _source(spec, name, str(file), _read(file), release)
    if RELEASE_NUMBER.fullmatch(spec):
        pinned = pinned_release(spec)
        release = spec if pinned is None else pinned.release
        data = cached_file(release, default_cache() if cache is None else cache, fetch, progress or _silent)
        return _source(spec, f"NeMo Gym {release}", f"nemo-gym-{release}/{FILE}", data, release)
    path = Path(spec)
    if spec and path.is_dir():
        file = _file_in_tree(path)
        return _source(spec, f"NeMo Gym tree {path}", str(file), _read(file), None)
    if path.suffix == ".whl":
        release = _release_of(path)
        name = f"NeMo Gym wheel {path.name}"
        return _source(spec, name, f"{path}/{FILE}", read_file(path), release)
    if path.suffix == ".py":
        return _source(spec, f"NeMo Gym file {path}", str(path), _read(path), None)
    raise SourceUnavailable(
        f"{spec!r} names no Gym: it is neither a release number like 0.7.0, nor an existing folder, nor a .whl or "
        f".py file, nor the word `installed`. Check the spelling and the path."
    )


def _source(spec: str, name: str, path: str, data: bytes, release: str | None) -> GymSource:
    sha256 = sha256_of(data)
    if release is None:
        pinned = is_pinned_file(sha256)
    else:
        row = pinned_release(release)
        pinned = row is not None and row.file_sha256 == sha256
    return GymSource(name, spec, release, pinned, path, decoded(data, path), sha256)


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise SourceUnavailable(f"{file}: cannot be read: {error.strerror}. Check the path.") from error


def _release_of(wheel: Path) -> str | None:
    """The release that a wheel's file name says, as the wheel format lays it down."""
    parts = wheel.stem.split("-")
    return parts[1] if len(parts) >= 5 and RELEASE_NUMBER.fullmatch(parts[1]) else None  # noqa: PLR2004 - the format


def _file_in_tree(tree: Path) -> Path:
    """The file in a source tree, at its root or one level down (`src/`)."""
    found = [tree / FILE] if (tree / FILE).is_file() else sorted(tree.glob(f"*/{FILE}"))
    if not found:
        raise SourceUnavailable(
            f"{tree}: looked for {FILE} in this folder and one level down and it is not there. "
            f"Give the root of a NeMo Gym checkout, or the file itself."
        )
    if len(found) > 1:
        raise SourceUnavailable(
            f"{tree}: {FILE} is there more than once: {', '.join(map(str, found))}. Give one of those trees."
        )
    return found[0]
