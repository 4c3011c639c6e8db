"""``contracts`` and ``impl`` never import each other, and no room imports another."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from contracts.rooms import ROOMS

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
FILES = sorted(path for side in ("contracts", "impl") for path in (ROOT / side).rglob("*.py"))


def imports(source: str, module: str, *, package: bool = False) -> Iterator[str]:
    """Absolute names of every module that ``source`` imports, wherever it does, literal dynamic imports included."""
    parents = module.split(".") if package else module.split(".")[:-1]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = parents[: len(parents) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and node.args and _called(node.func) in {"import_module", "__import__"}:
            first = node.args[0]
            if isinstance(first, ast.JoinedStr):
                first = first.values[0] if first.values else first
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield first.value


def _called(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def offences(source: str, module: str, *, package: bool = False) -> list[str]:
    """The imports that ``module`` must not have."""
    side, _, rest = module.partition(".")
    other = {"contracts": "impl", "impl": "contracts"}[side]
    own = rest.partition(".")[0]
    forbidden = [other]
    if own in ROOMS:
        forbidden += [f"{side}.{room}" for room in ROOMS if room != own]
    return sorted(
        {
            name
            for name in imports(source, module, package=package)
            if any(name == bad or name.startswith(f"{bad}.") for bad in forbidden)
        }
    )


def module_of(path: Path) -> tuple[str, bool]:
    parts = path.relative_to(ROOT).with_suffix("").parts
    package = parts[-1] == "__init__"
    return ".".join(parts[:-1] if package else parts), package


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_file_imports_across_the_seam(path: Path) -> None:
    module, package = module_of(path)
    assert offences(path.read_text("utf-8"), module, package=package) == []


def test_there_is_something_to_look_at() -> None:
    assert len(FILES) > 50
    scanned = {name for path in FILES for name in imports(path.read_text("utf-8"), *module_of(path)[:1])}
    assert {"contracts.check", "contracts.contract", "dataclasses"} <= scanned


@pytest.mark.parametrize(
    ("source", "module", "found"),
    [
        ("import impl", "contracts.check", ["impl"]),
        ("import impl.numerics.config as c", "contracts.check", ["impl.numerics.config"]),
        ("from impl.numerics import config", "contracts.check", ["impl.numerics", "impl.numerics.config"]),
        ("def f():\n    import impl", "contracts.check", ["impl"]),
        ("if TYPE_CHECKING:\n    from impl import x", "contracts.check", ["impl", "impl.x"]),
        ("importlib.import_module('impl.numerics')", "contracts.check", ["impl.numerics"]),
        ("import_module(f'impl.{room}')", "contracts.check", ["impl."]),
        ("__import__('impl')", "contracts.check", ["impl"]),
        ("import contracts", "impl.numerics.config", ["contracts"]),
        ("from contracts import load", "impl.numerics.config", ["contracts", "contracts.load"]),
        ("import contracts.numerics", "contracts.gym_overflow.sides", ["contracts.numerics"]),
        ("from contracts import numerics", "contracts.gym_overflow.sides", ["contracts.numerics"]),
        (
            "from ..numerics import sides",
            "contracts.gym_overflow.sides",
            ["contracts.numerics", "contracts.numerics.sides"],
        ),
        ("from .. import numerics", "contracts.gym_overflow.sides", ["contracts.numerics"]),
        ("import impl.gym_overflow", "impl.metrics_wire.logger", ["impl.gym_overflow"]),
    ],
)
def test_the_scanner_trips(source: str, module: str, found: list[str]) -> None:
    assert offences(source, module) == found


def test_the_scanner_knows_where_a_package_stands() -> None:
    crossing = ["contracts.numerics", "contracts.numerics.x"]
    assert offences("from ..numerics import x", "contracts.gym_overflow", package=True) == crossing
    assert offences("from ...numerics import x", "contracts.gym_overflow.checks", package=True) == crossing
    assert offences("from ..numerics import x", "contracts.gym_overflow.checks", package=True) == []


@pytest.mark.parametrize(
    ("source", "module"),
    [
        ("from contracts.check import Check", "contracts.numerics.sides"),
        ("from contracts.numerics import budgets", "contracts.numerics.sides"),
        ("from . import budgets", "contracts.numerics.sides"),
        ("from .gym_overflow import sides", "contracts.catalogue"),
        ("REFERENCE = 'impl.numerics.adapter:head'", "contracts.numerics.sides"),
        ("import implementation, contracts_of_others", "contracts.numerics.sides"),
        ("import impl.numerics.config", "impl.numerics.megatron.head"),
    ],
)
def test_the_scanner_lets_pass_what_is_allowed(source: str, module: str) -> None:
    assert offences(source, module) == []
