"""The classifier's expression, read from its syntax tree by a whitelist.

Gym's text is never compiled and never run: the tree is turned into the nodes of `nodes`, and whatever has no
node there is an error that names the file, the line and the offending text.
"""

import ast

from contracts.gym_overflow.gym.binding import STATUS_ATTRIBUTES, Bindings
from contracts.gym_overflow.gym.errors import UnsupportedExpression
from contracts.gym_overflow.gym.nodes import (
    COMPARATORS,
    AnyOf,
    Body,
    Comparison,
    Constant,
    Item,
    Junction,
    Lower,
    Node,
    Not,
    Status,
)
from contracts.gym_overflow.gym.syntax import SourceText

ALLOWED = (
    "names bound to the exception's status and decoded body, == != < <= > >=, in, not in, not, and, or, "
    "constants (str, int, bool, None and flat tuples, lists, sets of them), .lower(), and "
    "any(... for name in <constant tuple, list or set>)"
)
_DEEPEST = 40
_MOST_NODES = 400


def unsupported(source: SourceText, node: ast.AST, reason: str) -> UnsupportedExpression:
    """The error for a piece of source outside the whitelist: where, what, why, what is allowed."""
    return UnsupportedExpression(
        f"{source.place(node)}: `{source.excerpt(node)}` cannot be read as part of a classifier: {reason}. "
        f"Allowed: {ALLOWED}. Nothing of the file was executed."
    )


def read_expression(source: SourceText, node: ast.expr, bindings: Bindings, *, any_is_builtin: bool = True) -> Node:
    """Turn an expression into nodes.

    Args:
        source: the file it stands in.
        node: the expression.
        bindings: which names hold status and body there.
        any_is_builtin: False where the file binds `any` itself.

    Raises:
        UnsupportedExpression: anything outside the whitelist.
    """
    return _Reader(source, bindings, any_is_builtin=any_is_builtin).read(node, 0, None)


class _Reader:
    """One pass over one expression; counts what it has read so that no input can exhaust it."""

    def __init__(self, source: SourceText, bindings: Bindings, *, any_is_builtin: bool) -> None:
        self._source = source
        self._bindings = bindings
        self._any_is_builtin = any_is_builtin
        self._read = 0

    def _refusal(self, node: ast.AST, reason: str) -> UnsupportedExpression:
        return unsupported(self._source, node, reason)

    def read(self, node: ast.expr, depth: int, item: str | None) -> Node:
        """Read one node; `item` is the loop variable of a surrounding `any(...)`."""
        self._read += 1
        if depth > _DEEPEST or self._read > _MOST_NODES:
            raise self._refusal(
                node, f"the expression is nested deeper than {_DEEPEST} or has over {_MOST_NODES} parts"
            )
        match node:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return Not(self.read(operand, depth + 1, item))
            case ast.BoolOp(op=op, values=values):
                operands = tuple(self.read(value, depth + 1, item) for value in values)
                return Junction(isinstance(op, ast.Or), operands)
            case ast.Compare():
                return self._comparison(node, depth, item)
            case ast.Call():
                return self._call(node, depth, item)
            case _:
                return self._leaf(node, item)

    def _leaf(self, node: ast.expr, item: str | None) -> Node:
        match node:
            case ast.Constant():
                return Constant(self._constant(node))
            case ast.Tuple() | ast.List() | ast.Set():
                return Constant(self._collection(node))
            case ast.Name():
                return self._name(node, item)
            case ast.Attribute():
                return self._attribute(node, item)
            case _:
                raise self._refusal(node, f"{type(node).__name__} is not in the whitelist")

    def _constant(self, node: ast.expr) -> str | int | bool | None:
        if isinstance(node, ast.Constant) and (node.value is None or type(node.value) in {str, int, bool}):
            return node.value  # type: ignore[return-value]  # the line above is the check
        raise self._refusal(node, "not a string, whole number, truth value or None")

    def _elements(self, node: ast.Tuple | ast.List | ast.Set) -> list[object]:
        self._read += len(node.elts)
        if self._read > _MOST_NODES:
            raise self._refusal(node, f"the expression has over {_MOST_NODES} parts")
        return [self._constant(element) for element in node.elts]

    def _collection(self, node: ast.Tuple | ast.List | ast.Set) -> object:
        elements = self._elements(node)
        match node:
            case ast.Tuple():
                return tuple(elements)
            case ast.Set():
                return frozenset(elements)
            case _:
                return elements

    def _name(self, node: ast.Name, item: str | None) -> Node:
        if node.id == item:
            return Item()
        if node.id in self._bindings.names:
            return self._bindings.names[node.id]
        if node.id in self._bindings.refused:
            raise self._refusal(
                node, f"{self._bindings.refused[node.id]}, which is neither the status nor the decoded body"
            )
        raise self._refusal(node, "this name is bound neither to the status nor to the decoded body")

    def _attribute(self, node: ast.Attribute, item: str | None) -> Node:
        owner = node.value
        if (
            isinstance(owner, ast.Name)
            and owner.id != item
            and owner.id == self._bindings.exception
            and node.attr in STATUS_ATTRIBUTES
        ):
            return Status()
        raise self._refusal(node, "the only readable attribute is the caught exception's status")

    def _comparison(self, node: ast.Compare, depth: int, item: str | None) -> Node:
        for op in node.ops:
            if type(op).__name__ not in COMPARATORS:
                raise self._refusal(node, f"{type(op).__name__} is not in the whitelist")
        rest = tuple(
            (type(op).__name__, self.read(right, depth + 1, item))
            for op, right in zip(node.ops, node.comparators, strict=True)
        )
        return Comparison(self.read(node.left, depth + 1, item), rest)

    def _call(self, node: ast.Call, depth: int, item: str | None) -> Node:
        match node:
            case ast.Call(func=ast.Attribute(value=text, attr="lower"), args=[], keywords=[]):
                inner = self.read(text, depth + 1, item)
                if isinstance(inner, Body | Item | Lower) or (
                    isinstance(inner, Constant) and isinstance(inner.constant, str)
                ):
                    return Lower(inner)
                raise self._refusal(node, ".lower() is read on the body and on strings only")
            case ast.Call(func=ast.Name(id="any"), args=[ast.GeneratorExp() as generator], keywords=[]):
                return self._any(generator, depth, item)
            case _:
                raise self._refusal(node, "calls other than .lower() and any(...) are not in the whitelist")

    def _any(self, node: ast.GeneratorExp, depth: int, item: str | None) -> Node:
        if not self._any_is_builtin:
            raise self._refusal(node, "this file binds the name `any` itself")
        if item is not None:
            raise self._refusal(node, "any(...) inside any(...)")
        match node.generators:
            case [ast.comprehension(target=ast.Name(id=name), iter=over, ifs=[], is_async=0)] if isinstance(
                over, ast.Tuple | ast.List | ast.Set
            ):
                return AnyOf(self.read(node.elt, depth + 1, name), tuple(self._elements(over)))
            case _:
                raise self._refusal(node, "any(...) is read over one constant tuple, list or set, without conditions")
