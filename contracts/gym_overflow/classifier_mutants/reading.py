"""Sources whose classifiers are not where, or not what, they are taken for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from contracts.gym_overflow.classifier_mutants.rewritten import rewriting
from contracts.gym_overflow.gym import rewrite
from contracts.gym_overflow.sides import classifier

if TYPE_CHECKING:
    from contracts.gym_overflow.gym import GymSource


def _calling_a_function(source: GymSource) -> GymSource:
    expression = source.sites[0].classifier.source
    return replace(source, text=source.text.replace(expression, f"bool({expression})"))


def _one_line_lower(source: GymSource) -> GymSource:
    return replace(source, text="\n" + source.text)


classifier.mutant("GO-M501a", killed_by="GO-501")(rewriting("renames the variable", rewrite.rename_variable))
classifier.mutant("GO-M501b", killed_by="GO-501")(
    rewriting("wraps the expression in a call, which is not interpreted", _calling_a_function)
)
classifier.mutant("GO-M502a", killed_by="GO-502")(rewriting("moves every site one line down", _one_line_lower))
classifier.mutant("GO-M503a", killed_by="GO-503")(
    rewriting("drops the classifier of the second backend", lambda source: rewrite.drop_site(source, 1))
)
classifier.mutant("GO-M503b", killed_by="GO-503")(
    rewriting("rewords the second backend alone", lambda source: rewrite.reword(source, "max_tokens", "token", site=1))
)
