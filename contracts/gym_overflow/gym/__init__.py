"""NeMo Gym's own source, read and interpreted but never executed.

Where its out-of-context classifier stands, what it says of an answer, what Gym then does, how releases differ.
"""

from contracts.gym_overflow.gym.cache import default_cache
from contracts.gym_overflow.gym.classifier import Classifier
from contracts.gym_overflow.gym.diff import Change, GymDiff, diff_sources
from contracts.gym_overflow.gym.errors import (
    EvaluationError,
    GymError,
    HandlerNotUnderstood,
    RewriteNotApplicable,
    SiteNotFound,
    SourceUnavailable,
    SourceUnreadable,
    UnsupportedExpression,
)
from contracts.gym_overflow.gym.handler import Handler
from contracts.gym_overflow.gym.load import load_gym
from contracts.gym_overflow.gym.releases import Release, pinned_releases
from contracts.gym_overflow.gym.sites import VARIABLE, Site
from contracts.gym_overflow.gym.source import GymSource
from contracts.gym_overflow.gym.verdict import Decision, Verdict, verdict

__all__ = [
    "VARIABLE",
    "Change",
    "Classifier",
    "Decision",
    "EvaluationError",
    "GymDiff",
    "GymError",
    "GymSource",
    "Handler",
    "HandlerNotUnderstood",
    "Release",
    "RewriteNotApplicable",
    "Site",
    "SiteNotFound",
    "SourceUnavailable",
    "SourceUnreadable",
    "UnsupportedExpression",
    "Verdict",
    "default_cache",
    "diff_sources",
    "load_gym",
    "pinned_releases",
    "verdict",
]
