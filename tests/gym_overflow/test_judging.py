"""Which Gyms an answer is held against, and what they make of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from contracts.gym_overflow.gym import GymError, load_gym, pinned_releases
from contracts.gym_overflow.judging import shown, sites_that, triggers
from contracts.gym_overflow.selection import gyms, selected
from contracts.http import Answer

if TYPE_CHECKING:
    from pathlib import Path

ALL = [release.release for release in pinned_releases()]


def answer(status: int, message: str) -> Answer:
    return Answer(status, {"content-type": "application/json"}, json.dumps({"error": {"message": message}}).encode())


def test_all_pinned_releases_are_selected_by_default() -> None:
    assert [gym.release for gym in gyms()] == ALL
    assert len(ALL) == 9
    with selected(()) as chosen:
        assert [gym.release for gym in chosen] == ALL


def test_a_selection_ends_with_its_block() -> None:
    with selected(["0.7.0"]):
        with selected(["0.2.0", "0.4.0"]):
            assert [gym.release for gym in gyms()] == ["0.2.0", "0.4.0"]
        assert [gym.release for gym in gyms()] == ["0.7.0"]
    assert [gym.release for gym in gyms()] == ALL


def test_a_selection_ends_with_an_error_too() -> None:
    with pytest.raises(KeyError), selected(["0.7.0"]):
        raise KeyError
    assert [gym.release for gym in gyms()] == ALL


def test_a_gym_that_cannot_be_read_is_no_selection(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("is_context_overflow = True\n")
    with pytest.raises(GymError, match="is_out_of_context_length"), selected([str(tmp_path / "app.py")]):
        pytest.fail("it must not be selected")
    assert [gym.release for gym in gyms()] == ALL


def test_a_source_that_is_not_pinned_is_said_to_be_read(tmp_path: Path) -> None:
    file = tmp_path / "app.py"
    file.write_text("\n" + load_gym("0.7.0").text)
    said: list[str] = []
    with selected([str(file), "0.7.0"], progress=said.append):
        assert len(gyms()) == 2
    (line,) = said
    assert "is not pinned by hash" in line
    assert line.endswith("sites at lines 989, 1324")


@pytest.mark.parametrize(
    ("status", "message", "classified"),
    [
        (400, "This model's maximum context length is 8 tokens.", True),
        (400, "max_tokens must be at least 1, got 0.", True),
        (400, "Maximum Context Length", False),
        (500, "maximum context length", False),
        (400, "context_length_exceeded", False),
    ],
)
def test_every_site_is_asked(status: int, message: str, *, classified: bool) -> None:
    said = answer(status, message)
    sites = [f"{gym.name} line {site.line}" for gym in gyms() for site in gym.sites]
    assert sites_that(said, classify=True) == (sites if classified else [])
    assert sites_that(said, classify=False) == ([] if classified else sites)


def test_a_body_that_is_no_utf8_is_judged_as_gym_decodes_it() -> None:
    assert sites_that(Answer(400, {}, b"\xff max_tokens \xff"), classify=False) == []


def test_the_triggers_are_those_of_the_selection() -> None:
    assert triggers() == ("context length", "max_tokens")


def test_a_long_body_is_cut_where_it_is_shown() -> None:
    assert shown(Answer(400, {}, b"x" * 1000), 10) == "400 xxxxxxxxxx..."
    assert shown(Answer(200, {}, b"short")) == "200 short"
