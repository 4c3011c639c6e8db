"""The recorded answers: what each release's classifier says is what was recorded of it."""

import json
from pathlib import Path

import pytest

from contracts.gym_overflow.gym import load_gym, verdict

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus" / "overflow_answers.jsonl"


@pytest.mark.skipif(not CORPUS.exists(), reason="the full corpus lies beside the repository, where it lies at all")
@pytest.mark.parametrize("release", ["0.2.0", "0.7.0"])
def test_every_row_gets_its_recorded_verdict(release: str) -> None:
    gym = load_gym(release)
    rows = [json.loads(line) for line in CORPUS.read_text("utf-8").splitlines()]
    wrong = []
    for number, row in enumerate(rows, start=1):
        decided = verdict(gym, row["status"], row["body"])
        assert decided.agreement, f"row {number}: the sites disagree"
        if decided.overflow is not row["gym_verdict"][release]:
            wrong.append(number)
    assert len(rows) > 1000
    assert wrong == [], f"{len(wrong)} of {len(rows)} rows differ, on these lines"
