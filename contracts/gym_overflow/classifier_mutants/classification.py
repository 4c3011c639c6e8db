"""Classifiers that catch too little or too much."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from contracts.gym_overflow.classifier_mutants.rewritten import rewriting
from contracts.gym_overflow.gym import rewrite
from contracts.gym_overflow.recorded_answers import measured_answers, reference_answers
from contracts.gym_overflow.sides import classifier

if TYPE_CHECKING:
    from contracts.gym_overflow.gym import GymSource
    from contracts.gym_overflow.recorded_answers import RecordedAnswer

_STATUS = 400


def _measured(*, holding: str, lacking: str = "\0") -> RecordedAnswer:
    """The first measured answer that is classified and holds the one words but not the others."""
    return next(
        answer
        for answer in measured_answers()
        if answer.classified and holding in answer.body and lacking not in answer.body
    )


def _every_error(source: GymSource) -> GymSource:
    return replace(source, text=source.text.replace(f"== {_STATUS}", f">= {_STATUS}"))


_LENGTH_ONLY = _measured(holding="context length", lacking="max_tokens")
_MAX_TOKENS_ONLY = _measured(holding="max_tokens", lacking="context length")
_OTHER_400 = next(answer for answer in reference_answers() if answer.kind != "overflow" and answer.status == _STATUS)

classifier.mutant("GO-M511a", killed_by="GO-511")(
    rewriting("looks for status 422", lambda source: rewrite.change_status(source, _STATUS, 422))
)
classifier.mutant("GO-M511b", killed_by="GO-511")(
    rewriting("looks for context_window", lambda source: rewrite.reword(source, "context length", "context_window"))
)
classifier.mutant("GO-M511c", killed_by="GO-511")(rewriting("looks for capitals", rewrite.require_upper_case))
classifier.mutant("GO-M512a", killed_by="GO-512", witness=_OTHER_400)(
    rewriting("catches every 400, with `or` between status and words", rewrite.swap_and_or)
)
classifier.mutant("GO-M512b", killed_by="GO-512", witness=_OTHER_400)(
    rewriting("looks for a word that every error has", lambda source: rewrite.reword(source, "max_tokens", "error"))
)
classifier.mutant("GO-M513a", killed_by="GO-513", witness=_LENGTH_ONLY)(
    rewriting("no longer looks for context length", lambda source: rewrite.reword(source, "context length", "window"))
)
classifier.mutant("GO-M513b", killed_by="GO-513", witness=_MAX_TOKENS_ONLY)(
    rewriting("no longer looks for max_tokens", lambda source: rewrite.reword(source, "max_tokens", "max_new_tokens"))
)
classifier.mutant("GO-M513c", killed_by="GO-513", witness=_LENGTH_ONLY)(
    rewriting("looks for status 413", lambda source: rewrite.change_status(source, _STATUS, 413))
)
classifier.mutant("GO-M514a", killed_by="GO-514")(
    rewriting("lets the words decide without the status, with `or` between them", rewrite.swap_and_or)
)
classifier.mutant("GO-M514b", killed_by="GO-514")(
    rewriting("looks for status 500", lambda source: rewrite.change_status(source, _STATUS, 500))
)
classifier.mutant("GO-M514c", killed_by="GO-514")(rewriting("takes every status from 400 on for a 400", _every_error))
