"""The mutants of an endpoint on endpoints that refuse an overflow otherwise than the contract wants it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest
from every_status import describing_every_status

from contracts import gym_overflow
from contracts.gym_overflow.recorded import Recorded
from contracts.gym_overflow.recording import Recording
from contracts.gym_overflow.refusal import MARKER
from contracts.mutant import Proof
from impl.gym_overflow.adapter import ReferenceEndpoint

if TYPE_CHECKING:
    from pathlib import Path

    from contracts.mutant import MutantResult
    from impl.gym_overflow.in_process import Answer


@dataclass(frozen=True)
class Refusal:
    """How an endpoint of its own mind refuses, and the checks that it fails by that."""

    message: str | None
    failing: frozenset[str]
    status: int = 400
    code: str = "context_length_exceeded"

    def of(self, answer: Answer) -> Answer:
        """The same refusal, in this form."""
        if self.message is None:
            return replace(answer, status=self.status, body=b"Internal Server Error", headers={})
        error = json.loads(answer.body)["error"]
        numbers = [word for word in error["message"].replace(".", " ").split() if word.isdigit()]
        error |= {"message": self.message.format(*numbers), "code": self.code}
        return replace(answer, status=self.status, body=json.dumps({"error": error}).encode())


WORDS = frozenset({"GO-102", "GO-103"})
STATUS = WORDS | {"GO-101", "GO-131", "GO-132", "GO-222", "GO-312"}
REFUSALS = {
    "own words": Refusal("It takes {0} tokens at most, and these are {1}.", WORDS),
    "words without numbers": Refusal("The prompt is too long.", WORDS, code="prompt_too_long"),
    "another status": Refusal("It takes {0} tokens at most, and these are {1}.", STATUS, status=422),
    "the marker under another status": Refusal("The " + MARKER + " is {0}, these are {1}.", STATUS - {"GO-102"}, 413),
    "a bare server error": Refusal(None, STATUS, status=500),
}


class OwnMind(ReferenceEndpoint):
    """The reference with another refusal."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__()
        self._refusal = refusal

    def request(self, method: str, path: str, **sent: Any) -> Answer:
        answer = super().request(method, path, **sent)
        return self._refusal.of(answer) if answer.status == 400 and MARKER in answer.body.decode() else answer


class Uncounted(OwnMind):
    """The same, whose tokens are only known by the usage that its answers state."""

    capabilities = ReferenceEndpoint.capabilities - {"tokenize"}
    count_tokens = None

    def request(self, method: str, path: str, **sent: Any) -> Answer:
        return super().request(method, "/absent" if path == "/tokenize" else path, **sent)


def tried(adapter: Any) -> dict[str, MutantResult]:
    return {mutant.id: mutant.prove(adapter) for mutant in gym_overflow.endpoint.mutants}


def unproved(results: dict[str, MutantResult]) -> set[str]:
    """The checks that proved nothing because the adapter fails them; every other mutant must have been killed."""
    failing = {name for name, result in results.items() if result.without_defect}
    rest = {name: result for name, result in results.items() if name not in failing and result.proof != Proof.SKIPPED}
    assert {name: result for name, result in rest.items() if result.proof is not Proof.KILLED} == {}
    return {mutant.killed_by for mutant in gym_overflow.endpoint.mutants if mutant.id in failing}


@pytest.mark.parametrize("refusal", [pytest.param(refusal, id=name) for name, refusal in REFUSALS.items()])
def test_every_mutant_of_a_check_that_holds_is_killed(refusal: Refusal) -> None:
    with OwnMind(refusal) as adapter:
        assert unproved(tried(adapter)) == refusal.failing


def test_they_are_killed_where_tokens_are_only_known_by_usage() -> None:
    with Uncounted(REFUSALS["own words"]) as adapter:
        assert unproved(tried(adapter)) == WORDS


def test_they_are_killed_where_the_document_describes_every_status() -> None:
    with describing_every_status(ReferenceEndpoint)() as adapter:
        assert unproved(tried(adapter)) == set()


def test_a_recording_of_own_words_proves_the_same(tmp_path: Path) -> None:
    refusal = REFUSALS["own words"]
    with Recording(OwnMind(refusal), tmp_path / "own.jsonl") as live:
        recorded = tried(live)
    assert tried(Recorded(tmp_path / "own.jsonl")) == recorded
