"""Hypothesis profiles, under names of our own.

They are registered when first needed and never loaded: the user's own profile stays what it was.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hypothesis import settings

#: Short names, as the command line takes them, to registered names.
PROFILES = {"smoke": "contracts-smoke", "default": "contracts", "deep": "contracts-deep"}

#: The profile of a check that is run without naming one.
current_profile: ContextVar[str] = ContextVar("contracts_profile", default="default")

_EXAMPLES = {"contracts-smoke": 5, "contracts": 50, "contracts-deep": 1000}


def registered_name(name: str) -> str:
    """The registered name of a profile, given by its short or its registered name.

    Raises:
        ValueError: If there is no such profile.
    """
    registered = PROFILES.get(name, name)
    if registered not in _EXAMPLES:
        raise ValueError(f"no profile {name!r}; there are {', '.join(PROFILES)}")
    return registered


def profile_settings(name: str) -> settings:
    """The settings of one of our profiles.

    ``smoke`` and ``default`` draw the same examples whenever the same modules are loaded, so that a red CI job stays
    red until something changed (Hypothesis also tries constants that it finds in loaded modules). ``deep`` explores.
    None has a deadline or a database: the replay line of a failure is the database.

    Raises:
        ValueError: If there is no such profile.
    """
    from hypothesis import HealthCheck, Phase, Verbosity, settings  # noqa: PLC0415 - reading a profile's name needs no Hypothesis

    registered = registered_name(name)
    settings.register_profile(
        registered,
        max_examples=_EXAMPLES[registered],
        derandomize=registered != "contracts-deep",
        deadline=None,
        database=None,
        print_blob=False,
        report_multiple_bugs=False,
        # A failure says all about its case itself; Hypothesis' own words would repeat it as it never was.
        verbosity=Verbosity.quiet,
        phases=[Phase.generate, Phase.target, Phase.shrink],
        suppress_health_check=[HealthCheck.too_slow],
    )
    return settings.get_profile(registered)
