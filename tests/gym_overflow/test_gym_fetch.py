"""The real way to a release: pip as a subprocess, with a network, without one, and for a release that is not."""

import os
from pathlib import Path

import pytest

from contracts.gym_overflow.gym import SourceUnavailable, load_gym


def test_a_real_release_is_downloaded_and_a_damaged_copy_of_it_again(tmp_path: Path) -> None:
    said: list[str] = []
    gym = load_gym("0.2.0", cache=tmp_path, progress=said.append)
    assert gym.pinned
    assert said == ["fetching NeMo Gym 0.2.0 (2 MB, once)"]
    file = tmp_path / "gym" / "0.2.0" / "app.py"
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [file]
    file.write_text("damaged", "utf-8")
    assert load_gym("0.2.0", cache=tmp_path, progress=said.append) == gym
    assert len(said) == 3


def test_a_release_that_does_not_exist_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(
        SourceUnavailable, match=r"nemo-gym 99\.99\.99.*there is no such release; pinned ones are 0\.2\.0.*pip said"
    ):
        load_gym("99.99.99", cache=tmp_path)


def test_without_a_network_pips_own_words_are_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # the discard port, where nothing listens
    for name in [name for name in os.environ if name.startswith("PIP_") or name.lower() == "no_proxy"]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_RETRIES", "0")
    with pytest.raises(
        SourceUnavailable, match=r"no package index answered.*pip said: .*nemo-gym==0\.2\.0.*give the path of a wheel"
    ):
        load_gym("0.2.0", cache=tmp_path)
    assert not list(tmp_path.rglob("app.py"))


def test_a_python_without_pip_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "path" / "pip"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("raise ImportError('no pip here')\n", "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(broken.parent))
    with pytest.raises(SourceUnavailable, match=r"the download failed\. pip said: .*no pip here"):
        load_gym("0.2.0", cache=tmp_path)
