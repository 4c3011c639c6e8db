"""Find the drivers in a Python source, and whether each closes the logger that it attaches."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_CLOSING = frozenset({"close", "finish"})


@dataclass(frozen=True, slots=True)
class Driver:
    """A function that attaches a logger: it calls ``<something>.loggers.append(logger)``.

    Attributes:
        name: Its name.
        line: Line on which it begins.
        fault: What is wrong with its teardown, ``None`` if nothing is.
    """

    name: str
    line: int
    fault: str | None


def find_drivers(source: str) -> list[Driver]:
    """Every driver of a source, in the order of their lines.

    A driver is right if what it trains with stands in a ``try``, whose ``finally`` begins with ``logger.close()`` or
    ``logger.finish()`` (a ``with`` around it is looked through), and which nothing that could fail separates from
    the attaching.

    Raises:
        SyntaxError: If the source is no Python.
    """
    functions = [
        node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return [
        Driver(function.name, function.lineno, _fault_of(function, attached))
        for function in sorted(functions, key=lambda each: each.lineno)
        if (attached := _attached(function)) is not None
    ]


def _attached(function: ast.FunctionDef | ast.AsyncFunctionDef) -> str | None:
    """The name that the function itself attaches, written as in the source."""
    for node in _own_nodes(function.body):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "append"
            and isinstance(node.func.value, ast.Attribute)
            and node.func.value.attr == "loggers"
            and len(node.args) == 1
        ):
            return ast.unparse(node.args[0])
    return None


def _fault_of(function: ast.FunctionDef | ast.AsyncFunctionDef, attached: str) -> str | None:
    block, index = _attaching(function.body, attached)
    rest = block[index:]
    inside = [node for node in _own_nodes(function.body) if isinstance(node, ast.Try)]
    around = next((each for each in inside if block is each.body), None)
    following = rest[1] if len(rest) > 1 else None
    guarded = around if around is not None else following if isinstance(following, ast.Try) else None
    if guarded is None:
        return f"nothing but a try may follow the attaching of {attached}"
    if not guarded.finalbody:
        return "its try has no finally"
    if not _closes(guarded.finalbody[0], attached):
        return f"its finally does not begin with {attached}.close()"
    body = rest[1:] if guarded is around else guarded.body
    if not any(isinstance(node, ast.Call) for node in _own_nodes(body)):
        return "nothing is trained inside its try"
    return None


def _attaching(body: Sequence[ast.stmt], attached: str) -> tuple[Sequence[ast.stmt], int]:
    """The block of statements that holds the attaching, and its place in it."""
    for index, statement in enumerate(body):
        if isinstance(statement, ast.Expr) and ast.unparse(statement).endswith(f".loggers.append({attached})"):
            return body, index
        for inner in _blocks(statement):
            block, at = _attaching(inner, attached)
            if at >= 0:
                return block, at
    return body, -1


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return
    for name in ("body", "orelse", "finalbody"):
        if block := getattr(statement, name, None):
            yield block


def _closes(statement: ast.stmt, attached: str) -> bool:
    if isinstance(statement, ast.With | ast.AsyncWith):
        return _closes(statement.body[0], attached)
    if isinstance(statement, ast.Try):
        return _closes(statement.body[0], attached)
    if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)):
        return False
    called = statement.value.func
    return isinstance(called, ast.Attribute) and called.attr in _CLOSING and ast.unparse(called.value) == attached


def _own_nodes(body: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    """Every node that runs when the block runs: not those of functions and classes defined in it."""
    for statement in body:
        waiting: list[ast.AST] = [statement]
        while waiting:
            node = waiting.pop()
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
                continue
            yield node
            waiting.extend(ast.iter_child_nodes(node))
