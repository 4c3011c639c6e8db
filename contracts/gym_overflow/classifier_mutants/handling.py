"""Branches that do something else with a right decision."""

from contracts.gym_overflow.classifier_mutants.rewritten import rewriting
from contracts.gym_overflow.gym import rewrite
from contracts.gym_overflow.sides import classifier

classifier.mutant("GO-M521a", killed_by="GO-521")(
    rewriting("ends as tool_calls", lambda source: rewrite.change_finish_reason(source, "tool_calls"))
)
classifier.mutant("GO-M522a", killed_by="GO-522")(rewriting("raises every overflow", rewrite.propagate_always))
classifier.mutant("GO-M523a", killed_by="GO-523")(rewriting("swallows other errors", rewrite.swallow_other_errors))
