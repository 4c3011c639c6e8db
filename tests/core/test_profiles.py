from __future__ import annotations

import pytest
from hypothesis import Verbosity, settings
from toy_adapters import Right
from toy_echo import echo

from contracts.profiles import PROFILES, current_profile, profile_settings, registered_name


@pytest.mark.parametrize(("name", "examples"), [("smoke", 5), ("default", 50), ("deep", 1000)])
def test_a_profile_is_registered_under_our_own_name(name: str, examples: int) -> None:
    found = profile_settings(name)
    assert settings.get_profile(PROFILES[name]).max_examples == examples == found.max_examples
    assert PROFILES[name].startswith("contracts")
    assert (found.deadline, found.database) == (None, None)


def test_short_and_registered_names_are_the_same() -> None:
    assert [registered_name(name) for name in (*PROFILES, *PROFILES.values())] == [*PROFILES.values()] * 2


@pytest.mark.parametrize("name", ["", "ci", "contracts-", "Smoke"])
def test_another_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="there are smoke, default, deep"):
        registered_name(name)


def test_only_the_deep_profile_explores() -> None:
    assert [profile_settings(name).derandomize for name in PROFILES] == [True, True, False]


def test_the_users_own_profile_stays_loaded() -> None:
    settings.register_profile("toy-users-own", max_examples=3, deadline=7, verbosity=Verbosity.verbose)
    before = settings.get_current_profile_name()
    settings.load_profile("toy-users-own")
    try:
        echo["TY-101"].verify(Right())
        assert settings.get_current_profile_name() == "toy-users-own"
        assert (settings().max_examples, settings().verbosity) == (3, Verbosity.verbose)
        assert profile_settings("default").max_examples == 50
    finally:
        settings.load_profile(before)


def test_the_current_profile_is_the_one_of_a_check_that_names_none() -> None:
    asked = []

    class Recording(Right):
        def echo(self, value: int) -> int:
            asked.append(value)
            return value

    token = current_profile.set("smoke")
    try:
        echo["TY-101"].verify(Recording())
    finally:
        current_profile.reset(token)
    assert len(asked) == 2 + 5
