"""The answers that this package ships, and corpora of the same form."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pytest

from contracts.gym_overflow.fault import faults_of
from contracts.gym_overflow.gym import pinned_releases
from contracts.gym_overflow.probe import Route
from contracts.gym_overflow.recorded_answers import CorpusError, measured_answers, read_corpus, reference_answers
from contracts.gym_overflow.shipped_answers import record
from impl.gym_overflow.adapter import endpoint

if TYPE_CHECKING:
    from pathlib import Path

ROW = {"status": 400, "body": "{}", "kind": "overflow", "gym_verdict": {"0.7.0": True}}


def shipped(name: str) -> list[dict[str, Any]]:
    text = files("contracts.gym_overflow").joinpath("data", name).read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_the_references_answers_are_current() -> None:
    """Written by `python -m contracts.gym_overflow.shipped_answers`."""
    with endpoint() as live:
        assert shipped("reference_answers.jsonl") == list(record(live))


def test_the_references_answers_cover_every_route_and_fault() -> None:
    rows = shipped("reference_answers.jsonl")
    for route in Route:
        cases = {row["case"].partition(",")[0] for row in rows if row["endpoint"] == route}
        assert set(faults_of(route)) <= cases
        assert {row["kind"] for row in rows if row["endpoint"] == route} == {"overflow", "not_overflow"}
    assert {tuple(row["gym_verdict"]) for row in rows} == {tuple(release.release for release in pinned_releases())}


def test_the_reference_agrees_with_every_gym() -> None:
    for answer in reference_answers():
        assert answer.classified == (answer.kind == "overflow"), answer


def test_the_measured_answers_are_a_few_hundred_of_every_kind_and_version() -> None:
    rows = shipped("measured_answers.jsonl")
    assert 200 <= len(rows) <= 500
    assert {row["kind"] for row in rows} == {"overflow", "not_overflow", "ambiguous"}
    assert {row.get("source", "measured") for row in rows} == {"measured"}
    versions = {row["producer"] for row in rows}
    assert any("0.13" in version for version in versions)
    assert any("0.32" in version for version in versions)
    assert len(measured_answers()) == len(rows)


def test_a_corpus_is_read_with_its_blank_lines(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text(f"\n{json.dumps(ROW)}\n\n{json.dumps({**ROW, 'producer': 'x'})}\n", "utf-8")
    assert read_corpus(path) == [ROW, {**ROW, "producer": "x"}]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "holds no row"),
        (b"\n\n", "holds no row"),
        (b"{", r"corpus\.jsonl:1: not JSON"),
        (json.dumps(ROW).encode() + b"\nx", r"corpus\.jsonl:2: not JSON"),
        (b"[]", r"corpus\.jsonl:1: no row of a corpus: the row: Input should be a valid dictionary"),
        (
            json.dumps({**ROW, "status": "400"}).encode(),
            r":1: no row of a corpus: status: Input should be a valid integer",
        ),
        (
            b'{"status": 400}',
            r":1: no row of a corpus: body: Field required; kind: Field required; gym_verdict: Field req",
        ),
        (json.dumps({**ROW, "body": None}).encode(), r":1: no row of a corpus: body: Input should be a valid string"),
        (json.dumps({**ROW, "gym_verdict": {}}).encode(), r":1: no row of a corpus: gym_verdict"),
        (json.dumps({**ROW, "gym_verdict": {"0.7.0": "yes"}}).encode(), r":1: no row of a corpus: gym_verdict"),
        (json.dumps({**ROW, "kind": "maybe"}).encode(), r":1: no row of a corpus: kind: Input should be 'overflow'"),
        (b"\xff", "cannot read"),
        (None, "cannot read"),
    ],
)
def test_a_bad_corpus_is_one_clear_error(tmp_path: Path, text: bytes | None, message: str) -> None:
    path = tmp_path / "corpus.jsonl"
    if text is not None:
        path.write_bytes(text)
    with pytest.raises(CorpusError, match=message):
        read_corpus(path)
