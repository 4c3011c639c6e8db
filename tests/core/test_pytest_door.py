"""The pytest door: a downstream's test file, run by a pytest of its own."""

from __future__ import annotations

import pytest

from contracts.profiles import current_profile

pytest_plugins = ["pytester"]

FILE = """
import datetime as dt
import pytest
import toy_adapters
from toy_echo import echo
from contracts import KnownFailure

@pytest.fixture
def adapter():
    return toy_adapters.{adapter}()

@echo.parametrize({arguments})
def test_echo(adapter, check):
    check.verify(adapter)
"""
MUTANTS = """
import pytest
import toy_adapters
from toy_echo import echo

@pytest.fixture
def adapter():
    return toy_adapters.{adapter}()

@echo.parametrize_mutants({arguments})
def test_mutants(adapter, mutant):
    mutant.verify_killed(adapter)

@echo.parametrize_controls({arguments})
def test_controls(adapter, control):
    control.verify_held(adapter)
"""


def run(pytester: pytest.Pytester, adapter: str, arguments: str = "", *options: str) -> pytest.RunResult:
    pytester.makepyfile(test_door=FILE.format(adapter=adapter, arguments=arguments))
    return pytester.runpytest_inprocess("-rA", *options)


def prove(pytester: pytest.Pytester, adapter: str, arguments: str = "") -> pytest.RunResult:
    pytester.makepyfile(test_door=MUTANTS.format(adapter=adapter, arguments=arguments))
    return pytester.runpytest_inprocess("-rA")


def test_one_test_per_check_named_by_its_id(pytester: pytest.Pytester) -> None:
    result = run(pytester, "Right")
    result.assert_outcomes(passed=5)
    result.stdout.fnmatch_lines(["contracts: */contracts/__init__.py", "PASSED test_door.py::test_echo[[]TY-101[]]"])


@pytest.mark.parametrize("adapter", ["Right", "Wrong", "Lacks", "Crashes", "Claims"])
def test_the_number_of_collected_checks_does_not_depend_on_the_adapter(pytester: pytest.Pytester, adapter: str) -> None:
    assert sum(run(pytester, adapter).parseoutcomes().values()) == 5


def test_a_failure_is_shown_without_the_frames_of_the_harness(pytester: pytest.Pytester) -> None:
    result = run(pytester, "WrongAbove")
    result.assert_outcomes(passed=4, failed=1)
    result.stdout.fnmatch_lines(["*TY-101 another number came back", "*case    = Number(value=43)", "*replay  = *"])
    assert "contracts/check.py" not in result.stdout.str()
    assert "on_drawn_case" not in result.stdout.str(), "the failure alone says what the case was"


def test_a_should_fails_no_run(pytester: pytest.Pytester) -> None:
    result = run(pytester, "Hasty")
    result.assert_outcomes(passed=4, xfailed=1)
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["XFAIL test_door.py::test_echo[[]TY-301[]] - SHOULD, not MUST"])


def test_a_capability_that_is_not_declared_is_skipped_at_run_time_with_its_reason(pytester: pytest.Pytester) -> None:
    result = run(pytester, "Lacks")
    result.assert_outcomes(passed=4, skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*TY-201 needs batches, which the adapter does not declare"])


def test_a_capability_claimed_falsely_fails(pytester: pytest.Pytester) -> None:
    result = run(pytester, "Claims")
    result.assert_outcomes(passed=4, failed=1)
    result.stdout.fnmatch_lines(["*CheckCrashed: TY-201 crashed: NotImplementedError: one at a time*"])


def test_an_unknown_capability_fails_every_check(pytester: pytest.Pytester) -> None:
    result = run(pytester, "Unknown")
    result.assert_outcomes(failed=5)
    result.stdout.fnmatch_lines(["*ValueError: the adapter declares unknown capabilities bathces;*"])


KNOWN = "known_failures={{'TY-102': KnownFailure('it is rude', issue='toy/echo#1'{until})}}".format


def test_a_known_failure_is_shown_as_such(pytester: pytest.Pytester) -> None:
    result = run(pytester, "Rude", KNOWN(until=""))
    result.assert_outcomes(passed=4, xfailed=1)
    result.stdout.fnmatch_lines(["XFAIL test_door.py::test_echo[[]TY-102[]] - it is rude (toy/echo#1)"])


@pytest.mark.parametrize("adapter", ["Right", "Crashes"])
def test_a_known_failure_that_passes_or_crashes_fails(pytester: pytest.Pytester, adapter: str) -> None:
    run(pytester, adapter, KNOWN(until="")).assert_outcomes(passed=4, failed=1)


def test_a_known_failure_does_not_cover_another_check(pytester: pytest.Pytester) -> None:
    run(pytester, "WrongAbove", KNOWN(until="")).assert_outcomes(passed=3, failed=2)


def test_a_known_failure_does_not_cover_another_code(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest
        import toy_adapters
        from toy_echo import echo
        from contracts import KnownFailure

        @pytest.fixture
        def adapter():
            return toy_adapters.Rude()

        @echo.parametrize(known_failures={"TY-102": KnownFailure("it is rude", issue="toy/echo#1")})
        def test_echo(adapter, check):
            if check.id == "TY-102":
                raise echo["TY-103"].fail("something else", got=1, want=0)
        """
    )
    pytester.runpytest_inprocess().assert_outcomes(passed=4, failed=1)


def test_an_expired_known_failure_fails_and_says_when_it_ended(pytester: pytest.Pytester) -> None:
    result = run(pytester, "Rude", KNOWN(until=", until='2020-01-31'"))
    result.assert_outcomes(passed=4, failed=1)
    result.stdout.fnmatch_lines(["*TY-102 the known failure ended on 2020-01-31"])


def test_a_known_failure_of_a_should_is_strict_too(pytester: pytest.Pytester) -> None:
    result = run(pytester, "Right", "known_failures={'TY-301': KnownFailure('slow', issue='toy/echo#3')}")
    result.assert_outcomes(passed=4, failed=1)


def test_a_known_failure_of_an_unknown_check_is_an_error(pytester: pytest.Pytester) -> None:
    result = run(pytester, "Right", "known_failures={'TY-999': KnownFailure('x', issue='y')}")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*UnknownIdError: toy.echo has no check 'TY-999'; it has TY-101*"])


def test_a_pinned_version_has_the_checks_of_then(pytester: pytest.Pytester) -> None:
    result = run(pytester, "Right", "version='1.0'")
    result.assert_outcomes(passed=5)
    result.stdout.fnmatch_lines(["PASSED test_door.py::test_echo[[]TY-104[]]"])
    assert "TY-103" not in result.stdout.str()


def test_mutants_and_controls_are_tests_too(pytester: pytest.Pytester) -> None:
    result = prove(pytester, "Right")
    result.assert_outcomes(passed=7)
    result.stdout.fnmatch_lines(["PASSED test_door.py::test_mutants[[]TY-M101a[]]"])


def test_without_a_passing_baseline_a_mutant_is_skipped_with_its_reason(pytester: pytest.Pytester) -> None:
    result = prove(pytester, "Rude")
    result.assert_outcomes(passed=6, skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*TY-M102a*without the defect, TY-102 the greeting is wrong"])


def test_without_the_capability_a_mutant_is_skipped_with_its_reason(pytester: pytest.Pytester) -> None:
    result = prove(pytester, "Lacks")
    result.assert_outcomes(passed=6, skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*TY-201 needs batches*"])


def test_mutants_follow_a_pinned_version(pytester: pytest.Pytester) -> None:
    result = prove(pytester, "Right", "version='1.0'")
    result.assert_outcomes(passed=6, skipped=1)
    result.stdout.fnmatch_lines(
        ["PASSED test_door.py::test_mutants[[]TY-M104a[]]", "SKIPPED*empty parameter set for (control)"]
    )


def test_a_mutant_that_survives_fails(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import toy_adapters
        from dataclasses import replace
        from toy_echo import echo
        from contracts import Wrapper

        def test_survives():
            replace(echo.mutants[0], wrap=Wrapper).verify_killed(toy_adapters.Right())
        """
    )
    result = pytester.runpytest_inprocess()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*MutantSurvived: TY-M101a (Adds one to every number): TY-101 passes with the defect"])


def test_the_markers_are_registered(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_inprocess("--markers")
    result.stdout.fnmatch_lines(
        ["@pytest.mark.contract(*", "@pytest.mark.gpu:*", "@pytest.mark.engine:*", "@pytest.mark.slow:*"]
    )


def test_only_keeps_the_named_checks(pytester: pytest.Pytester) -> None:
    result = run(pytester, "Right", "", "--contracts-only", "TY-102, TY-201,")
    result.assert_outcomes(passed=2, deselected=3)


def test_only_with_an_unknown_check_is_a_usage_error(pytester: pytest.Pytester) -> None:
    result = run(pytester, "Right", "", "--contracts-only", "TY-102,TY-999")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --contracts-only: no collected check is called TY-999"])


def test_the_profile_reaches_the_checks_and_stays_inside(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        from contracts.profiles import current_profile

        def test_profile():
            assert current_profile.get() == "smoke"
        """
    )
    pytester.runpytest_inprocess("--contracts-profile", "smoke").assert_outcomes(passed=1)
    assert current_profile.get() == "default"


def test_an_unknown_profile_is_a_usage_error(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_inprocess("--contracts-profile", "thorough")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--contracts-profile: invalid choice: 'thorough'*"])
