"""A Gym from a wheel, a tree, a file or the installed package, and every way there is nothing to read."""

import os
import zipfile
from pathlib import Path

import pytest

from contracts.gym_overflow.gym import SourceUnavailable, SourceUnreadable, load_gym, pinned_releases
from contracts.gym_overflow.gym.releases import FILE

TEXT = "raise RuntimeError('a source that is read must never run')\n"


def wheel_with(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def placed(root: Path, text: str = TEXT) -> Path:
    file = root / FILE
    file.parent.mkdir(parents=True)
    file.write_text(text, "utf-8")
    return file


def test_a_wheel_says_its_release_and_is_pinned_only_with_the_pinned_file(tmp_path: Path) -> None:
    real = load_gym("0.2.0")
    own = wheel_with(tmp_path / "nemo_gym-0.2.0-py3-none-any.whl", {FILE: real.text.encode()})
    fork = wheel_with(tmp_path / "nemo_gym-0.2.0-1fork-py3-none-any.whl", {FILE: real.text.encode() + b"#\n"})
    assert (load_gym(str(own)).release, load_gym(str(own)).pinned) == ("0.2.0", True)
    assert (load_gym(str(fork)).release, load_gym(str(fork)).pinned) == ("0.2.0", False)
    assert load_gym(str(own)).path == f"{own}/{FILE}"


@pytest.mark.parametrize("below", ["", "src"])
def test_a_tree_holds_the_file_at_its_root_or_one_level_down(tmp_path: Path, below: str) -> None:
    file = placed(tmp_path / below)
    gym = load_gym(str(tmp_path))
    assert (gym.text, gym.path, gym.release, gym.pinned) == (TEXT, str(file), None, False)


def test_a_pinned_file_is_known_wherever_it_lies(tmp_path: Path) -> None:
    file = tmp_path / "app.py"
    file.write_bytes(load_gym("0.7.0").text.encode())
    gym = load_gym(str(file))
    assert gym.pinned
    assert [site.line for site in gym.sites] == list(pinned_releases()[-1].sites)
    assert gym.sites[0].file == str(file)


def test_a_folder_named_like_a_release_is_a_path_when_written_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    placed(tmp_path / "0.7.0")
    monkeypatch.chdir(tmp_path)
    assert load_gym(f".{os.sep}0.7.0").text == TEXT


def installed(root: Path) -> None:
    info = root / "nemo_gym-0.9.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: nemo-gym\nVersion: 0.9.0\n", "utf-8")


def test_the_installed_file_is_found_without_importing_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path)
    file = placed(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    gym = load_gym("installed")
    assert (gym.path, gym.release, gym.name) == (str(file), "0.9.0", "NeMo Gym 0.9.0 (installed)")


def test_an_editable_install_is_found_through_the_import_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path / "site")
    file = placed(tmp_path / "checkout")
    (tmp_path / "checkout" / "responses_api_models" / "__init__.py").write_text(TEXT, "utf-8")
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.syspath_prepend(tmp_path / "checkout")
    assert load_gym("installed").path == str(file)


def test_nothing_installed_is_an_error_that_says_what_to_give_instead() -> None:
    with pytest.raises(SourceUnavailable, match=r"no distribution nemo-gym.*give a release number, a wheel"):
        load_gym("installed")


def test_an_install_without_the_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(SourceUnavailable, match=r"nemo-gym 0\.9\.0 without .*app\.py"):
        load_gym("installed")


@pytest.mark.parametrize("spec", ["no/such/place", "latest", "", "0.7.0/extra", "0.7.0; true", "-r evil.txt"])
def test_a_spec_that_names_nothing_is_refused(spec: str) -> None:
    with pytest.raises(SourceUnavailable, match="names no Gym"):
        load_gym(spec)


def test_a_wheel_without_the_file_is_refused(tmp_path: Path) -> None:
    wheel = wheel_with(tmp_path / "nemo_gym-0.1.0-py3-none-any.whl", {"nemo_gym/__init__.py": b""})
    with pytest.raises(SourceUnavailable, match=rf"{wheel}: looked for {FILE}"):
        load_gym(str(wheel))


def test_a_broken_wheel_is_refused(tmp_path: Path) -> None:
    whole = wheel_with(tmp_path / "whole.whl", {FILE: os.urandom(5000)}).read_bytes()
    cut, flipped = tmp_path / "cut.whl", tmp_path / "flipped.whl"
    cut.write_bytes(whole[:2000])
    flipped.write_bytes(whole[:500] + bytes([whole[500] ^ 255]) + whole[501:])
    for wheel in (cut, flipped):
        with pytest.raises(SourceUnavailable, match=r"cannot be read as a wheel.*Download it again"):
            load_gym(str(wheel))


@pytest.mark.parametrize(("after_the_signature", "written", "says"), [(0, 1, "encrypted"), (2, 99, "compression")])
def test_a_wheel_that_only_another_program_reads_is_refused(
    tmp_path: Path, after_the_signature: int, written: int, says: str
) -> None:
    wheel = wheel_with(tmp_path / "gym.whl", {FILE: b"pass"})
    content = bytearray(wheel.read_bytes())
    # Flags and compression follow the version in the file's header, and both versions in the directory's.
    for signature, versions in ((b"PK\x03\x04", 2), (b"PK\x01\x02", 4)):
        content[content.index(signature) + 4 + versions + after_the_signature] = written
    wheel.write_bytes(content)
    with pytest.raises(SourceUnavailable, match=rf"cannot be read as a wheel.*{says}.*Download it again"):
        load_gym(str(wheel))


def test_a_missing_wheel_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    for name in ("absent.whl", "absent.py"):
        with pytest.raises(SourceUnavailable, match=f"{name}: cannot be .*Check the path"):
            load_gym(str(tmp_path / name))


def test_a_member_of_absurd_size_is_not_unpacked(tmp_path: Path) -> None:
    wheel = wheel_with(tmp_path / "bomb.whl", {FILE: bytes(6 * 1024 * 1024)})
    assert wheel.stat().st_size < 100_000
    with pytest.raises(SourceUnavailable, match="claims 6,291,456 bytes, over the limit"):
        load_gym(str(wheel))


def test_a_tree_without_the_file_and_one_with_two_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceUnavailable, match=f"looked for {FILE} in this folder and one level down"):
        load_gym(str(tmp_path))
    placed(tmp_path / "one")
    placed(tmp_path / "two")
    with pytest.raises(SourceUnavailable, match=r"more than once: .*one.*two"):
        load_gym(str(tmp_path))


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "app.py"
    file.write_bytes(b"x = '\xff'\n")
    with pytest.raises(SourceUnreadable, match=r"app\.py: not UTF-8 text \(byte 5\)"):
        load_gym(str(file))
    file.write_bytes(bytes(6 * 1024 * 1024))
    with pytest.raises(SourceUnreadable, match="over the limit"):
        load_gym(str(file))
