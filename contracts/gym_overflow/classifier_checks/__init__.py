"""The checks of a Gym source: 50x what is read, 51x what it classifies, 52x what follows."""

from contracts.gym_overflow.classifier_checks import classification, handling, reading

__all__ = ["classification", "handling", "reading"]
