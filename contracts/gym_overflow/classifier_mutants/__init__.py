"""The mutants of a Gym source: rewrites of its text in memory, file by file beside the checks that must catch them."""

from contracts.gym_overflow.classifier_mutants import classification, handling, reading

__all__ = ["classification", "handling", "reading"]
