"""Real vLLM held to the contract of one engine: every check that it can be held to, on its first case; every mutant.

What is drawn beyond the named cases is left to the torch engine, which starts in milliseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard

import pytest

from contracts.numerics import head
from impl.numerics.vllm import adapter as vllm_adapter

if TYPE_CHECKING:
    from collections.abc import Callable

    from contracts import Check, Control, Mutant
    from impl.numerics.vllm.adapter import VllmAdapter

pytestmark = [
    pytest.mark.engine("vllm"),
    pytest.mark.filterwarnings("ignore"),  # vLLM's own, as it is imported and started
]

OTHERS: dict[str, tuple[Callable[[], VllmAdapter], tuple[str, ...]]] = {
    "native": (vllm_adapter.vllm_native, ("NU-102", "NU-103", "NU-301", "NU-402")),
    "per_call": (vllm_adapter.vllm_per_call, ("NU-102", "NU-103", "NU-301", "NU-402")),
    "nemotron_h": (vllm_adapter.vllm_nemotron_h, ("NU-102", "NU-103", "NU-104", "NU-302", "NU-306")),
}
"""What could differ by strategy or architecture: precision, inertness, refits, refusals."""


@pytest.fixture(scope="module")
def adapter() -> VllmAdapter:
    return vllm_adapter.vllm_cached()


@pytest.fixture(scope="module")
def others() -> dict[str, VllmAdapter]:
    return {name: make() for name, (make, _) in OTHERS.items()}


def first_case(check: Check[Any]) -> object:
    return check.examples[0] if check.takes_case else None


@head.parametrize()
def test_cached(adapter: VllmAdapter, check: Check[Any]) -> None:
    check.verify(adapter, case=first_case(check))


@pytest.fixture(scope="module")
def matrix() -> dict[str, list[str]]:
    """Mutants that were killed, by check."""
    return {}


@head.parametrize_mutants()
def test_cached_mutant(adapter: VllmAdapter, mutant: Mutant[Any], matrix: dict[str, list[str]]) -> None:
    mutant.verify_killed(adapter)
    matrix.setdefault(mutant.killed_by, []).append(mutant.id)


def test_the_kill_matrix_is_printed_and_whole(
    adapter: VllmAdapter,
    matrix: dict[str, list[str]],
    request: pytest.FixtureRequest,
    capsys: pytest.CaptureFixture[str],
) -> None:
    tried = [item.callspec.params["mutant"] for item in request.session.items if is_of(item, test_cached_mutant)]
    if not tried:
        pytest.skip("no mutant was selected")
    with capsys.disabled():
        print(f"\nkilled on {adapter.name}, {adapter.version}:")  # noqa: T201 - the run's result
        for check, mutants in sorted(matrix.items()):
            print(f"  {check}: {', '.join(mutants)}")  # noqa: T201 - as above
    killed = {mutant for mutants in matrix.values() for mutant in mutants}
    assert killed == {mutant.id for mutant in tried if not mutant.check.missing(adapter)}


def is_of(item: pytest.Item, test: Callable[..., None]) -> TypeGuard[pytest.Function]:
    return isinstance(item, pytest.Function) and item.function is test


@head.parametrize_controls()
def test_cached_control(adapter: VllmAdapter, control: Control[Any]) -> None:
    control.verify_held(adapter)


@pytest.mark.parametrize(("name", "check"), [(name, check) for name, (_, checks) in OTHERS.items() for check in checks])
def test_others(others: dict[str, VllmAdapter], name: str, check: str) -> None:
    head[check].verify(others[name], case=first_case(head[check]))
