"""Recorded answers run through a Gym's classifier, plain and behind the reference middleware."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from contracts.gym_overflow.gym import load_gym, pinned_releases
from contracts.gym_overflow.recorded_answers import CorpusError, read_corpus
from contracts.gym_overflow.replay import replayed, replayed_through_reference

SHIPPED = Path(str(files("contracts.gym_overflow").joinpath("data", "measured_answers.jsonl")))
CHAT = "/v1/chat/completions"
RELEASES = [release.release for release in pinned_releases()]


def row(kind: str, status: int, body: str, *, recorded: bool = False, **more: Any) -> dict[str, Any]:
    return {"status": status, "body": body, "kind": kind, "gym_verdict": {"0.7.0": recorded}, "endpoint": CHAT, **more}


MEASURED_MISS = row("overflow", 500, "Internal Server Error")
PUBLIC_MISS = row("overflow", 400, "the prompt is too long", source="a public report")
FALSE_ALARM = row("not_overflow", 400, "max_tokens must be an integer", recorded=True)


@pytest.mark.parametrize("release", RELEASES)
def test_every_gym_agrees_with_the_shipped_verdicts(release: str) -> None:
    found = replayed(read_corpus(SHIPPED), load_gym(release))
    assert found.disagreements == ()
    assert found.holds


def test_the_reference_misses_no_shipped_overflow_and_raises_no_alarm() -> None:
    found = replayed_through_reference(read_corpus(SHIPPED), load_gym("0.7.0"))
    assert [row.number for row in found.rows if row.missed or row.false_alarm] == []
    assert found.holds
    ambiguous = [row for row in found.rows if row.row["kind"] == "ambiguous"]
    assert {row.classified for row in ambiguous} == {True, False}
    assert all(row.decided_by for row in ambiguous)


@pytest.mark.parametrize("release", ["0.2.0", "0.7.0"])
def test_every_gym_agrees_with_the_whole_corpus(corpus: Path, release: str) -> None:
    found = replayed(read_corpus(corpus), load_gym(release))
    assert len(found.rows) > 1000
    assert found.disagreements == ()


def test_the_reference_misses_only_public_wordings_of_the_whole_corpus(corpus: Path) -> None:
    found = replayed_through_reference(read_corpus(corpus), load_gym("0.7.0"))
    assert [row.number for row in found.rows if row.false_alarm or (row.missed and row.measured)] == []
    assert found.holds


def test_the_shipped_rows_are_measured_rows_of_the_corpus(corpus: Path) -> None:
    """Every kind and producer that was measured is among them, and no public report."""
    whole = [row for row in read_corpus(corpus) if row.get("source") == "measured"]
    shipped = read_corpus(SHIPPED)
    known = {(row["producer"], row["kind"], row["status"], row["body"]) for row in whole}
    assert {(row["producer"], row["kind"], row["status"], row["body"]) for row in shipped} <= known
    assert {(row["producer"], row["kind"]) for row in shipped} == {(row["producer"], row["kind"]) for row in whole}


def test_a_disagreement_is_found_and_fails() -> None:
    found = replayed(
        [row("overflow", 400, "max_tokens"), row("overflow", 400, "none", recorded=True)], load_gym("0.7.0")
    )
    assert [row.number for row in found.disagreements] == [1, 2]
    assert not found.holds


def test_a_release_that_was_not_recorded_is_held_to_those_that_were() -> None:
    both = {"status": 400, "body": "max_tokens", "kind": "overflow", "gym_verdict": {"0.2.0": True, "0.7.0": True}}
    assert replayed([both], load_gym("0.4.0")).holds
    assert not replayed([{**both, "body": "none"}], load_gym("0.4.0")).holds


def test_plain_misses_are_counted_and_do_not_fail() -> None:
    found = replayed([MEASURED_MISS, PUBLIC_MISS, FALSE_ALARM], load_gym("0.7.0"))
    assert [row.missed for row in found.rows] == [True, True, False]
    assert [row.measured for row in found.rows] == [True, False, True]
    assert [row.false_alarm for row in found.rows] == [False, False, True]
    assert found.holds


@pytest.mark.parametrize(
    ("rows", "holds"),
    [
        ([FALSE_ALARM], True),
        ([row("overflow", 418, "nothing that is known")], False),
        ([row("overflow", 418, "nothing that is known", source="a public report")], True),
    ],
    ids=["rephrased", "measured miss", "public miss"],
)
def test_behind_the_middleware_only_a_measured_miss_or_an_alarm_fails(
    rows: list[dict[str, Any]], *, holds: bool
) -> None:
    assert replayed_through_reference(rows, load_gym("0.7.0")).holds is holds


def test_a_row_without_its_endpoint_cannot_go_through_the_middleware() -> None:
    rows = [MEASURED_MISS, {**MEASURED_MISS, "endpoint": None}]
    assert replayed(rows, load_gym("0.7.0")).holds
    with pytest.raises(CorpusError, match="row 2 has no endpoint, which the reference middleware needs"):
        replayed_through_reference(rows, load_gym("0.7.0"))
