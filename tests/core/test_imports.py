"""What importing costs, told by the modules that are loaded and not by the clock."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import contracts

HEAVY = {
    *("torch", "vllm", "megatron", "transformers", "numpy", "httpx", "fastapi", "starlette", "uvicorn", "sqlalchemy"),
    *("hypothesis", "pytest", "_pytest", "pydantic", "rich", "typer", "click", "jinja2", "jsonschema", "schemathesis"),
    *("asyncio", "stamina", "impl"),
}


def loaded_by(code: str) -> set[str]:
    program = f"import sys, json; before = set(sys.modules); {code}; print(json.dumps([*set(sys.modules) - before]))"
    command = [sys.executable, "-P", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - our own command
    return set(json.loads(done.stdout.splitlines()[-1]))


def tops(modules: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in modules}


def test_the_package_alone_loads_nothing_but_itself() -> None:
    loaded = loaded_by("import contracts")
    assert {name for name in loaded if name.startswith("contracts")} == {"contracts"}
    assert not tops(loaded) - sys.stdlib_module_names - {"contracts"}
    assert not HEAVY & tops(loaded)


@pytest.mark.parametrize("name", ["Check", "Contract", "KnownFailure", "Level", "Source", "load", "Wrapper"])
def test_what_a_room_is_written_with_is_light(name: str) -> None:
    assert not HEAVY & tops(loaded_by(f"from contracts import {name}"))


@pytest.mark.parametrize("room", ["gym_overflow", "metrics_wire", "numerics"])
def test_a_room_is_light_until_a_contract_is_asked_for(room: str) -> None:
    assert not HEAVY & tops(loaded_by(f"import contracts.{room}"))


def test_the_reference_package_is_light() -> None:
    assert {name for name in loaded_by("import impl") if not name.startswith("impl")} <= sys.stdlib_module_names


def test_the_command_line_loads_no_room_and_no_hypothesis() -> None:
    loaded = loaded_by("import contracts.cli")
    rooms = {f"contracts.{room}" for room in ("gym_overflow", "metrics_wire", "numerics")}
    assert not {name for name in loaded if name.startswith(tuple(f"{room}.sides" for room in rooms))}
    assert not {"hypothesis", "torch", "numpy", "httpx", "fastapi", "pytest", "jinja2", "impl"} & tops(loaded)


def test_the_plugin_imports_only_pytest() -> None:
    loaded = loaded_by("import pytest; before = set(sys.modules); import contracts.pytest_plugin")
    assert {name for name in loaded if name.startswith("contracts")} == {"contracts", "contracts.pytest_plugin"}
    assert tops(loaded) <= {"contracts"}


def test_a_pytest_run_without_contracts_loads_nothing_of_ours_but_the_plugin(tmp_path: object) -> None:
    code = (
        "import pytest; pytest.main(['-q', '-p', 'no:cacheprovider', '-p', 'no:schemathesis', "
        f"'-p', 'no:hypothesispytest', {str(tmp_path)!r}])"
    )
    loaded = loaded_by(code)
    assert {name for name in loaded if name.startswith("contracts")} == {"contracts", "contracts.pytest_plugin"}


@pytest.mark.parametrize("name", contracts.__all__)
def test_every_public_name_is_there_and_described(name: str) -> None:
    assert getattr(contracts, name).__doc__


def test_the_lists_of_public_names_agree() -> None:
    assert sorted(contracts.__all__) == sorted(contracts._HOMES)  # noqa: SLF001 - two lists, one for type checkers
    assert set(contracts.__all__) <= set(dir(contracts))


def test_a_wrong_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'contracts' has no attribute 'Kontract'"):
        contracts.Kontract  # noqa: B018 - the access is the test
