from __future__ import annotations

from typing import Any

import pytest
from toy_adapters import Crashes, Hangs, Lacks, Right, Rude, Unknown, Wrong
from toy_echo import SOURCE, Number, echo, greeting_is_polite, numbers

from contracts import Check, CheckCrashed, Contract, Control, Mutant, NotDeclared, Wrapper
from contracts.mutant import Inconclusive, MutantSurvived, Proof


@pytest.fixture
def fresh() -> Contract[Any]:
    """A contract to seed defects into, with a polite greeting and a number that comes back."""
    contract: Contract[Any] = Contract("toy.fresh", version="1.0", summary="s", reference="m:f")
    contract.check("TY-102", source=SOURCE, limit_s=0.2)(greeting_is_polite)

    def number(check: Check[Any], adapter: Any, case: Number) -> None:
        """A number comes back.

        Why: because.

        Usual cause: none.
        """
        if adapter.echo(case.value) != case.value:
            raise check.fail("another number", got=0, want=case.value)

    contract.check("TY-101", source=SOURCE, examples=(Number(1),), cases=numbers)(number)
    return contract


class Bare(Right):
    """An echo that needs no capability."""

    capabilities = frozenset()


def greeting(contract: Contract[Any], body: Any, killed_by: str = "TY-102") -> Mutant[Any]:
    class Greets(Wrapper):
        """Greets in its own way."""

        def greet(self) -> str:
            return body(self.inner)

    contract.mutant("TY-M102a", killed_by=killed_by)(Greets)
    return contract.mutants[0]


@pytest.mark.parametrize("mutant", echo.mutants, ids=lambda mutant: mutant.id)
def test_every_mutant_of_the_toy_is_killed_on_the_right_adapter(mutant: Mutant[Any]) -> None:
    assert mutant.prove(Right()).proof is Proof.KILLED
    assert mutant.verify_killed(Right()) is None


def test_the_witness_alone_is_tried() -> None:
    asked = []

    class Recording(Right):
        def echo(self, value: int) -> int:
            asked.append(value)
            return value

    [mutant] = [mutant for mutant in echo.mutants if mutant.id == "TY-M101b"]
    mutant.verify_killed(Recording())
    assert asked == [150, 150], "once without the defect, once with it"


def test_the_first_example_is_the_witness_of_a_mutant_that_names_none() -> None:
    witnesses = {mutant.id: mutant.witness for mutant in echo.mutants}
    assert witnesses["TY-M101a"] == Number(0)
    assert witnesses["TY-M101b"] == Number(150)
    assert witnesses["TY-M102a"] is None


def test_a_defect_that_the_check_does_not_see_survives(fresh: Contract[Any]) -> None:
    mutant = greeting(fresh, lambda inner: inner.greet())
    assert mutant.prove(Bare()).proof is Proof.SURVIVED
    with pytest.raises(MutantSurvived, match=r"TY-M102a \(Greets in its own way\): TY-102 passes with the defect"):
        mutant.verify_killed(Bare())


def test_a_defect_that_only_another_case_shows_survives(fresh: Contract[Any]) -> None:
    class Saturates(Wrapper):
        """Gives back 100 for everything above."""

        def echo(self, value: int) -> int:
            return min(100, self.inner.echo(value))

    fresh.mutant("TY-M101a", killed_by="TY-101", witness=Number(99))(Saturates)
    fresh.mutant("TY-M101b", killed_by="TY-101", witness=Number(101))(Saturates)
    assert [mutant.prove(Bare()).proof for mutant in fresh.mutants] == [Proof.SURVIVED, Proof.KILLED]


def test_a_failure_with_another_code_is_no_kill(fresh: Contract[Any]) -> None:
    def other(_inner: Any) -> str:
        raise echo["TY-103"].fail("something else", got=1, want=0)

    mutant = greeting(fresh, other)
    result = mutant.prove(Bare())
    assert (result.proof, result.reason) == (Proof.SURVIVED, "TY-103 failed instead of TY-102")
    with pytest.raises(MutantSurvived, match="TY-103 failed instead of TY-102"):
        mutant.verify_killed(Bare())


def break_down(_inner: Any) -> str:
    raise ZeroDivisionError("broken")


@pytest.mark.parametrize(
    ("body", "reason"),
    [(break_down, "ZeroDivisionError: broken"), (lambda _inner: Hangs().greet(), "the adapter hangs")],
    ids=["crash", "hang"],
)
def test_a_crash_and_a_hang_with_the_defect_are_no_kill(fresh: Contract[Any], body: Any, reason: str) -> None:
    mutant = greeting(fresh, body)
    result = mutant.prove(Bare())
    assert result.proof is Proof.INCONCLUSIVE
    assert result.reason.startswith("with the defect, TY-102")
    assert reason in result.reason
    with pytest.raises(CheckCrashed, match=reason):
        mutant.verify_killed(Bare())


def test_a_defect_that_cannot_be_put_on_the_adapter_is_no_kill(fresh: Contract[Any]) -> None:
    def wrap(_adapter: Any) -> Any:
        """Breaks while it wraps."""
        raise LookupError("no such part")

    fresh.mutant("TY-M102a", killed_by="TY-102")(wrap)
    result = fresh.mutants[0].prove(Bare())
    assert result.proof is Proof.INCONCLUSIVE
    assert result.reason == "with the defect, TY-M102a cannot wrap the adapter: LookupError: no such part"


def test_a_defect_that_takes_a_capability_away_is_no_kill() -> None:
    class Hides(Wrapper):
        """Hides a capability."""

        capabilities = frozenset()

    mutant = Mutant(
        id="TY-M201z",
        contract="toy.echo",
        killed_by="TY-201",
        witness=[1, 2],
        description="hides a capability",
        wrap=Hides,
        check=echo["TY-201"],
    )
    assert mutant.prove(Right()).proof is Proof.INCONCLUSIVE


@pytest.mark.parametrize("adapter", [Rude(), Wrong(), Crashes()], ids=lambda adapter: adapter.name)
def test_without_a_passing_baseline_nothing_is_shown(adapter: Right) -> None:
    [mutant] = [mutant for mutant in echo.mutants if mutant.id == "TY-M102a"]
    result = mutant.prove(adapter)
    assert (result.proof, result.without_defect) == (Proof.INCONCLUSIVE, True)
    assert result.reason.startswith("without the defect, TY-102")
    with pytest.raises(Inconclusive, match="TY-M102a"):
        mutant.verify_killed(adapter)


def test_without_the_capability_of_its_check_a_mutant_is_not_tried() -> None:
    [mutant] = [mutant for mutant in echo.mutants if mutant.killed_by == "TY-201"]
    assert mutant.requires == {"batches"}
    assert mutant.prove(Lacks()).proof is Proof.SKIPPED
    with pytest.raises(NotDeclared, match="TY-201 needs batches"):
        mutant.verify_killed(Lacks())


def test_an_unknown_capability_stops_the_proof() -> None:
    with pytest.raises(ValueError, match="unknown capabilities bathces"):
        echo.mutants[0].prove(Unknown())


class NotARight:
    """An echo that shares no class with the others, and keeps things of its own."""

    name = "its own"
    version = "3"
    capabilities = frozenset({"batches"})
    __slots__ = ("extra",)

    def __init__(self) -> None:
        self.extra = "kept"

    def __getattr__(self, name: str) -> Any:
        return getattr(Right(), name)


def test_a_mutant_wraps_any_adapter_and_forwards_the_rest() -> None:
    for mutant in echo.mutants:
        assert mutant.prove(NotARight()).proof is Proof.KILLED, mutant.id
        wrapped = mutant.wrap(NotARight())
        assert (wrapped.extra, wrapped.name, wrapped.capabilities) == ("kept", "its own", frozenset({"batches"}))


@pytest.mark.parametrize(
    ("body", "proof", "reason"),
    [
        (lambda inner: inner.greet(), Proof.HELD, "TY-102 tolerates it"),
        (lambda _inner: "", Proof.REFUSED, "the greeting is wrong"),
        (break_down, Proof.INCONCLUSIVE, "with the change, TY-102 crashed: ZeroDivisionError"),
    ],
    ids=["held", "refused", "crash"],
)
def test_a_control_holds_only_if_the_check_passes_with_it(
    fresh: Contract[Any], body: Any, proof: Proof, reason: str
) -> None:
    class Greets(Wrapper):
        """Greets in its own way."""

        def greet(self) -> str:
            return body(self.inner)

    fresh.control("TY-C102a", tolerated_by="TY-102")(Greets)
    [control] = fresh.controls
    result = control.prove(Bare())
    assert result.proof is proof
    assert result.reason.startswith(reason)


def test_a_control_that_is_refused_raises() -> None:
    [control] = echo.controls
    assert control.verify_held(Right()) is None
    strict = Control(**{**vars(control), "wrap": echo.mutants[3].wrap})
    with pytest.raises(MutantSurvived, match=r"TY-C103a .*: the measurement drifts"):
        strict.verify_held(Right())


def test_half_the_budget_is_tolerated_and_twice_is_caught() -> None:
    [half] = [control for control in echo.controls if control.killed_by == "TY-103"]
    [twice] = [mutant for mutant in echo.mutants if mutant.killed_by == "TY-103"]
    assert (half.prove(Right()).proof, twice.prove(Right()).proof) == (Proof.HELD, Proof.KILLED)


def test_registration_refuses_a_taken_id_an_unknown_check_and_a_defect_without_words(fresh: Contract[Any]) -> None:
    greeting(fresh, lambda _inner: "")
    with pytest.raises(ValueError, match="'TY-M102a' is taken"):
        fresh.control("TY-M102a", tolerated_by="TY-102")(Wrapper)
    with pytest.raises(ValueError, match="has no check 'TY-999'"):
        fresh.mutant("TY-M999a", killed_by="TY-999")(Wrapper)

    class Silent(Wrapper):
        pass

    with pytest.raises(TypeError, match="TY-M102b needs a docstring"):
        fresh.mutant("TY-M102b", killed_by="TY-102")(Silent)
