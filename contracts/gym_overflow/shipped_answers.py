"""What an endpoint answers around its window and to every fault, as rows of a corpus.

``python -m contracts.gym_overflow.shipped_answers`` writes the reference endpoint's, which this package ships; a test
fails when they are out of date.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from contracts.gym_overflow.fault import FaultyRequest, faults_of, send_faulty
from contracts.gym_overflow.judging import sites_that, text_of
from contracts.gym_overflow.probe import Probe, Route, send
from contracts.gym_overflow.selection import gyms
from contracts.gym_overflow.sides import endpoint as contract

if TYPE_CHECKING:
    from collections.abc import Iterator

    from contracts.answer import Answer
    from contracts.gym_overflow.protocols import Endpoint

_OFFSETS = (0, 1, 40)
_WORDS = ("hello", "max_tokens", "context length")


def record(endpoint: Endpoint) -> Iterator[dict[str, Any]]:
    """Rows of a corpus: every route at and over the window, streaming or not, and every fault with suspicious words."""
    for route in Route:
        for offset in _OFFSETS:
            for stream in (False, True):
                answer = send(endpoint, Probe(offset), route, stream=stream)
                yield _row(endpoint, "overflow", route, f"{route} window{offset:+d} stream={stream}", answer)
        for fault in faults_of(route):
            for words in _WORDS:
                answer = send_faulty(endpoint, FaultyRequest(fault, words, 4, route))
                yield _row(endpoint, "not_overflow", route, f"{fault}, {words}", answer)


def _row(endpoint: Endpoint, kind: str, route: Route, case: str, answer: Answer) -> dict[str, Any]:
    missing = {site.partition(" line")[0] for site in sites_that(answer, classify=False)}
    return {
        "producer": f"{endpoint.name} {endpoint.version}".strip(),
        "kind": kind,
        "endpoint": route.value,
        "case": case,
        "status": answer.status,
        "body": text_of(answer),
        "gym_verdict": {gym.release: gym.name not in missing for gym in gyms()},
    }


if __name__ == "__main__":
    from contracts.cli.adapters import opened

    with opened(contract.reference) as (reference,):
        for recorded in record(reference):
            sys.stdout.write(json.dumps(recorded) + "\n")
