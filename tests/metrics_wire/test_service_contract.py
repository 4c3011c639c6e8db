"""The reference service held to its contract, and the shape of the contract."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest
from every_status import describing_every_status

from contracts import metrics_wire
from contracts.metrics_wire.service_calls import TASK_ROUTE, ApiCall
from contracts.mutant import Proof
from impl.metrics_wire.service.adapter import DATABASE_VARIABLE, ServiceAdapter, postgresql, service

if TYPE_CHECKING:
    from collections.abc import Iterator

    from contracts.check import Check

CONTRACT = metrics_wire.service
RULES = ("replace", "merge")


@pytest.fixture(scope="module", params=RULES)
def adapter(request: pytest.FixtureRequest) -> Iterator[ServiceAdapter]:
    """The reference by either rule, on a new SQLite file; ``tox -e postgresql`` holds it on the other database."""
    with ServiceAdapter(request.param) as live:
        yield live


@CONTRACT.parametrize()
def test_the_reference_holds(adapter: ServiceAdapter, check: Check[Any]) -> None:
    check.verify(adapter, profile="smoke")


def test_the_command_lines_adapters_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DATABASE_VARIABLE, "postgresql+psycopg://u:p@127.0.0.1:1/x")
    assert [each.name for each in (*service(), *postgresql())] == [
        f"reference ({database}, {rule})" for database in ("sqlite", "postgresql") for rule in RULES
    ]


def test_postgresql_without_a_database_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(DATABASE_VARIABLE, raising=False)
    with pytest.raises(RuntimeError, match=f"set {DATABASE_VARIABLE} to postgresql://"):
        postgresql()


def test_a_service_that_does_not_start_says_why() -> None:
    adapter = ServiceAdapter("replace", "mysql://127.0.0.1/x")
    with pytest.raises(RuntimeError, match="mysql is not supported"):
        adapter.__enter__()
    adapter.close()


def test_an_integer_beyond_the_largest_float_is_refused(adapter: ServiceAdapter) -> None:
    """Found by `benchmarks/service_fuzz.py`: it was rounded to the largest float, and taken for finite."""
    beyond = int(sys.float_info.max) + 1
    body = f'{{"status_details": {{"metrics": {{"a": [{{"step": 1, "epoch": 1, "value": {beyond}}}]}}}}}}'
    case = ApiCall("PUT", TASK_ROUTE, (), (), "application/json", body, allowed=False)
    CONTRACT["MW-962"].verify(adapter, case=case)


def test_ids_name_the_theme() -> None:
    themes = {check.id[:5]: check.function.__module__.rpartition(".")[2] for check in CONTRACT.checks}
    for check in CONTRACT.checks:
        assert check.id.startswith("MW-9")
        assert themes[check.id[:5]] == check.function.__module__.rpartition(".")[2], check.id
    assert len(themes) == len(set(themes.values()))


def test_mutants_of_the_document_are_killed_where_it_describes_every_status() -> None:
    with ServiceAdapter("replace") as plain, describing_every_status(ServiceAdapter)("replace") as ranges:
        for adapter in (plain, ranges):
            tried = {mutant.id: mutant.prove(adapter) for mutant in CONTRACT.mutants if mutant.id[:6] == "MW-M96"}
            assert {name: each.proof for name, each in tried.items()} == dict.fromkeys(tried, Proof.KILLED)
