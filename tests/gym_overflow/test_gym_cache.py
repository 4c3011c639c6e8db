"""The cache of releases: fetched once, checked always, never half written."""

import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import contracts.gym_overflow.gym.cache as cache_module
from contracts.gym_overflow.gym import Release, SourceUnavailable, default_cache, load_gym
from contracts.gym_overflow.gym.releases import FILE

ROOT = Path(cache_module.__file__).parents[3]
TEXT = "# a file of our own\n"
UNPINNED = "99.0.0"


class Shelf:
    """A fetcher that hands out a wheel of our own and counts."""

    def __init__(self, text: str = TEXT) -> None:
        self.fetched: list[str] = []
        self.text = text

    def __call__(self, release: str, folder: Path) -> Path:
        self.fetched.append(release)
        wheel = folder / f"nemo_gym-{release}-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr(zipfile.ZipInfo(FILE), self.text)
        return wheel


def offline(release: str, folder: Path) -> Path:
    raise SourceUnavailable(f"no network for {release} into {folder.name}")


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_an_unknown_newer_release_is_read_and_said_to_be_unpinned(tmp_path: Path) -> None:
    shelf, said = Shelf(), []
    gym = load_gym(UNPINNED, cache=tmp_path, fetch=shelf, progress=said.append)
    assert (gym.name, gym.release, gym.pinned, gym.text) == ("NeMo Gym 99.0.0", UNPINNED, False, TEXT)
    assert said == ["fetching NeMo Gym 99.0.0 (not a pinned release, once)"]


def test_a_release_is_fetched_once_and_only_its_file_is_kept(tmp_path: Path) -> None:
    shelf = Shelf()
    first = load_gym(UNPINNED, cache=tmp_path, fetch=shelf)
    second = load_gym(UNPINNED, cache=tmp_path, fetch=offline)
    assert first == second
    assert shelf.fetched == [UNPINNED]
    assert files(tmp_path) == ["gym/99.0.0/app.py", "gym/99.0.0/app.py.sha256"]


@pytest.mark.parametrize("damage", [b"", b"is_out_of_context_length = False\n", TEXT.encode()[:-1]])
def test_a_damaged_cached_file_is_fetched_again_and_never_used(tmp_path: Path, damage: bytes) -> None:
    load_gym(UNPINNED, cache=tmp_path, fetch=Shelf())
    (tmp_path / "gym" / UNPINNED / "app.py").write_bytes(damage)
    with pytest.raises(SourceUnavailable, match="no network"):
        load_gym(UNPINNED, cache=tmp_path, fetch=offline)
    said: list[str] = []
    assert load_gym(UNPINNED, cache=tmp_path, fetch=Shelf(), progress=said.append).text == TEXT
    assert "not the file that was fetched: fetching it again" in said[0]


def test_a_damaged_cached_pinned_file_is_never_used_either(tmp_path: Path) -> None:
    file = tmp_path / "gym" / "0.7.0" / "app.py"
    file.parent.mkdir(parents=True)
    file.write_text(TEXT, "utf-8")
    said: list[str] = []
    with pytest.raises(SourceUnavailable, match="no network"):
        load_gym("0.7.0", cache=tmp_path, fetch=offline, progress=said.append)
    assert said[1] == "fetching NeMo Gym 0.7.0 (43 MB, once)"


def test_without_network_nothing_is_left_in_the_cache(tmp_path: Path) -> None:
    with pytest.raises(SourceUnavailable, match=r"no network for 0\.2\.0"):
        load_gym("0.2.0", cache=tmp_path, fetch=offline)
    assert files(tmp_path) == []


def test_a_wheel_that_is_not_the_pinned_one_is_not_used(tmp_path: Path) -> None:
    with pytest.raises(SourceUnavailable, match=r"wheel nemo_gym-0\.2\.0\S* that was fetched has SHA-256 \w+"):
        load_gym("0.2.0", cache=tmp_path, fetch=Shelf())
    assert files(tmp_path) == []


def pinned_as(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, file_text: str) -> None:
    (tmp_path / "wheel").mkdir()
    wheel = Shelf()("1.0.0", tmp_path / "wheel")
    data = wheel.read_bytes()
    release = Release(
        release="1.0.0",
        wheel=wheel.name,
        wheel_sha256=hashlib.sha256(data).hexdigest(),
        wheel_bytes=len(data),
        file=FILE,
        file_sha256=hashlib.sha256(file_text.encode()).hexdigest(),
        sites=(),
        requires_python=">=3.12",
    )
    monkeypatch.setattr(cache_module, "pinned_release", {"1.0.0": release}.get)


def test_the_file_inside_the_pinned_wheel_is_checked_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pinned_as(monkeypatch, tmp_path, TEXT + "# other")
    with pytest.raises(SourceUnavailable, match=rf"the {FILE} that was fetched has SHA-256"):
        load_gym("1.0.0", cache=tmp_path / "cache", fetch=Shelf())


def test_a_wheel_and_file_as_pinned_are_kept_without_a_noted_hash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pinned_as(monkeypatch, tmp_path, TEXT)
    assert load_gym("1.0.0", cache=tmp_path / "cache", fetch=Shelf()).text == TEXT
    assert files(tmp_path / "cache") == ["gym/1.0.0/app.py"]


def test_a_cache_that_cannot_be_written_says_how_to_choose_another(tmp_path: Path) -> None:
    (tmp_path / "gym").write_text("a file where a folder should be", "utf-8")
    with pytest.raises(SourceUnavailable, match="Set CONTRACTS_CACHE"):
        load_gym(UNPINNED, cache=tmp_path, fetch=Shelf())


def test_the_default_cache_follows_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTRACTS_CACHE", str(tmp_path))
    assert default_cache() == tmp_path
    load_gym(UNPINNED, fetch=Shelf())
    assert files(tmp_path)[0] == "gym/99.0.0/app.py"
    monkeypatch.delenv("CONTRACTS_CACHE")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert default_cache() == tmp_path / "xdg" / "rl-contracts"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert default_cache() == Path.home() / "Library" / "Caches" / "rl-contracts"


LOADER = """
import os, pathlib, shutil, sys, time
from contracts.gym_overflow.gym import load_gym
wheel, meeting, cache = map(pathlib.Path, sys.argv[1:])

def fetch(release, folder):
    (meeting / str(os.getpid())).touch()
    deadline = time.monotonic() + 60
    while len(list(meeting.iterdir())) < 2:  # both processes are fetching before either one writes
        if time.monotonic() > deadline:
            raise SystemExit("the other process never came to fetch")
        time.sleep(0.01)
    return pathlib.Path(shutil.copy(wheel, folder))

print(load_gym("99.0.0", cache=cache, fetch=fetch).sha256)
"""


def test_two_processes_that_fetch_at_once_both_get_the_whole_file(tmp_path: Path) -> None:
    meeting, cache, shelf = tmp_path / "meeting", tmp_path / "cache", tmp_path / "shelf"
    meeting.mkdir()
    shelf.mkdir()
    text = TEXT * 10_000
    wheel = Shelf(text)(UNPINNED, shelf)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", LOADER, str(wheel), str(meeting), str(cache)]
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)  # noqa: S603 - our own words
        for _ in range(2)
    ]
    answers = [process.communicate(timeout=120)[0].strip() for process in running]
    assert answers == [hashlib.sha256(text.encode()).hexdigest()] * 2
    assert files(cache) == ["gym/99.0.0/app.py", "gym/99.0.0/app.py.sha256"]
