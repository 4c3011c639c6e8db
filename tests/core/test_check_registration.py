from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from toy_echo import SOURCE, Number, numbers

from contracts import Check, Contract, Level, Source

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def contract() -> Contract[Any]:
    return Contract("toy.fresh", version="1.0", summary="s", reference="m:f", capabilities={"batches": "b. Not: n."})


def stated(_check: Check[Any], _adapter: Any) -> None:
    """It holds.

    Why: because
    it must.

    Usual cause: it does not.
    """


def stated_with_case(_check: Check[Any], _adapter: Any, _case: Number) -> None:
    """It holds for a case.

    Why: because.

    Usual cause: none.
    """


def test_a_check_reads_its_claim_from_its_docstring(contract: Contract[Any]) -> None:
    contract.check("TY-101", source=SOURCE)(stated)
    check = contract["TY-101"]
    assert (check.claim, check.why, check.usual_cause) == ("It holds.", "because it must.", "it does not.")
    assert (check.level, check.since, check.takes_case, check.contract) == (Level.MUST, "1.0", False, "toy.fresh")


def test_the_decorated_function_stays_a_plain_function(contract: Contract[Any]) -> None:
    assert contract.check("TY-101", source=SOURCE)(stated) is stated


def without_docstring(_check: Check[Any], _adapter: Any) -> None: ...


def without_why(_check: Check[Any], _adapter: Any) -> None:
    """It holds.

    Usual cause: none.
    """


def without_cause(_check: Check[Any], _adapter: Any) -> None:
    """It holds.

    Why: because.
    """


def with_an_empty_why(_check: Check[Any], _adapter: Any) -> None:
    """It holds.

    Why:

    Usual cause: none.
    """


@pytest.mark.parametrize("function", [without_docstring, without_why, without_cause, with_an_empty_why])
def test_each_part_of_the_docstring_is_demanded(contract: Contract[Any], function: Callable[..., None]) -> None:
    with pytest.raises(TypeError, match=rf"{function.__name__} needs a docstring whose first line is the claim"):
        contract.check("TY-101", source=SOURCE)(function)
    assert contract.checks == ()


@pytest.mark.parametrize("check_id", ["TY-1", "TY-1011", "ty-101", "TYP-101", "TY101", "", "TY-101 "])
def test_a_malformed_id_is_refused(contract: Contract[Any], check_id: str) -> None:
    with pytest.raises(ValueError, match="no free check id"):
        contract.check(check_id, source=SOURCE)(stated)


def test_a_taken_id_is_refused(contract: Contract[Any]) -> None:
    contract.check("TY-101", source=SOURCE)(stated)
    with pytest.raises(ValueError, match="'TY-101' is no free check id"):
        contract.check("TY-101", source=SOURCE)(stated)


def test_an_unknown_capability_is_refused(contract: Contract[Any]) -> None:
    with pytest.raises(ValueError, match="TY-101 requires unknown capabilities bathces"):
        contract.check("TY-101", source=SOURCE, requires={"batches", "bathces"})(stated)


@pytest.mark.parametrize("versions", [{"since": "1"}, {"since": "one.two"}, {"until": "2"}])
def test_a_malformed_version_is_refused(contract: Contract[Any], versions: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"a contract version is major\.minor"):
        contract.check("TY-101", source=SOURCE, **versions)(stated)


def test_a_check_with_a_case_names_an_example(contract: Contract[Any]) -> None:
    with pytest.raises(TypeError, match="must name examples"):
        contract.check("TY-101", source=SOURCE, cases=numbers)(stated_with_case)


@pytest.mark.parametrize("wrongly", [{"examples": (Number(1),)}, {"cases": numbers}])
def test_a_check_without_a_case_names_none(contract: Contract[Any], wrongly: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="exactly if its function takes one"):
        contract.check("TY-101", source=SOURCE, **wrongly)(stated)


@pytest.mark.parametrize("function", [lambda: None, lambda _a: None, lambda _a, _b, _c, _d: None], ids=[0, 1, 4])
def test_other_parameters_are_refused(contract: Contract[Any], function: Callable[..., None]) -> None:
    with pytest.raises(TypeError, match=r"must take \(check, adapter\) or \(check, adapter, case\)"):
        contract.check("TY-101", source=SOURCE)(function)


@pytest.mark.parametrize(("place", "fact"), [("", "fact"), ("place", " ")])
def test_a_source_has_a_place_and_a_fact(place: str, fact: str) -> None:
    with pytest.raises(ValueError, match="a Source needs a place"):
        Source(place, fact)


def test_an_own_rule_says_why() -> None:
    assert str(Source.ours("nobody else says so")) == "rl-contracts reference - nobody else says so"
    with pytest.raises(ValueError, match="a Source needs"):
        Source.ours("")


def test_checks_mutants_and_controls_are_sorted_tuples(contract: Contract[Any]) -> None:
    for check_id in ("TY-201", "TY-101"):
        contract.check(check_id, source=SOURCE)(stated)
    assert [check.id for check in contract.checks] == ["TY-101", "TY-201"]
    assert isinstance(contract.checks, tuple)
    assert (contract.mutants, contract.controls) == ((), ())
    assert repr(contract) == "<Contract toy.fresh 1.0: 2 checks, 0 mutants>"


def test_an_unknown_id_names_the_known_ones(contract: Contract[Any]) -> None:
    contract.check("TY-101", source=SOURCE)(stated)
    with pytest.raises(ValueError, match=r"toy\.fresh has no check 'TY-999'; it has TY-101"):
        contract["TY-999"]
