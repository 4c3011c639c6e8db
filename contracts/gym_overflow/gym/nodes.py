"""The only operations a classifier's expression may consist of, as a tree that evaluates itself.

Each node does what Python's operator of that name does and nothing else; none can reach an attribute, a
call or a name that is not listed here.
"""

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Observation:
    """What the expression sees: an upstream's answer.

    Attributes:
        status: HTTP status of the upstream's answer.
        body: its body, decoded.
        item: the constant that a surrounding `any(...)` currently looks at.
    """

    status: int
    body: str
    item: object = None


class Node(Protocol):
    """One operation."""

    def value(self, seen: Observation) -> object:
        """The operation's value for one observation. Raises TypeError where Python's operator would."""


@dataclass(frozen=True, slots=True)
class Status:
    """The answer's status: `e.status`."""

    def value(self, seen: Observation) -> object:
        """See Node."""
        return seen.status


@dataclass(frozen=True, slots=True)
class Body:
    """The answer's decoded body."""

    def value(self, seen: Observation) -> object:
        """See Node."""
        return seen.body


@dataclass(frozen=True, slots=True)
class Item:
    """The loop variable of `any(...)`."""

    def value(self, seen: Observation) -> object:
        """See Node."""
        return seen.item


@dataclass(frozen=True, slots=True)
class Constant:
    """A string, whole number, truth value, None, or a flat tuple, list or set of them."""

    constant: object

    def value(self, seen: Observation) -> object:
        """See Node."""
        del seen
        return self.constant


@dataclass(frozen=True, slots=True)
class Lower:
    """`text.lower()`."""

    text: Node

    def value(self, seen: Observation) -> object:
        """See Node."""
        text = self.text.value(seen)
        if not isinstance(text, str):
            raise TypeError(f"{type(text).__name__!r} has no lower()")
        return text.lower()


@dataclass(frozen=True, slots=True)
class Not:
    """`not operand`."""

    operand: Node

    def value(self, seen: Observation) -> object:
        """See Node."""
        return not self.operand.value(seen)


@dataclass(frozen=True, slots=True)
class Junction:
    """`a and b and ...` or `a or b or ...`; stops where Python stops.

    Attributes:
        stops_at: the truth value that ends the evaluation: False for `and`, True for `or`.
        operands: two or more.
    """

    stops_at: bool
    operands: tuple[Node, ...]

    def value(self, seen: Observation) -> object:
        """See Node."""
        outcome: object = None
        for operand in self.operands:
            outcome = operand.value(seen)
            if bool(outcome) is self.stops_at:
                break
        return outcome


COMPARATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "In": lambda left, right: operator.contains(right, left),
    "NotIn": lambda left, right: not operator.contains(right, left),
}
"""Python's comparisons by the name of their syntax node, TypeErrors included; identity is not among them."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """`left op right op right ...`, chained as Python chains it.

    Attributes:
        left: first operand.
        rest: pairs of a key of COMPARATORS and the operand to its right.
    """

    left: Node
    rest: tuple[tuple[str, Node], ...]

    def value(self, seen: Observation) -> object:
        """See Node."""
        left = self.left.value(seen)
        for comparator, operand in self.rest:
            right = operand.value(seen)
            if not COMPARATORS[comparator](left, right):
                return False
            left = right
        return True


@dataclass(frozen=True, slots=True)
class AnyOf:
    """`any(element for item in constants)`."""

    element: Node
    items: tuple[object, ...]

    def value(self, seen: Observation) -> object:
        """See Node."""
        return any(self.element.value(replace(seen, item=item)) for item in self.items)


def walk(node: Node, items: tuple[object, ...] = ()) -> Iterator[tuple[Node, tuple[object, ...]]]:
    """The node and everything below it, outermost first, each with the constants its `Item` stands for."""
    yield node, items
    match node:
        case Lower(inner) | Not(inner):
            yield from walk(inner, items)
        case AnyOf(element, own_items):
            yield from walk(element, own_items)
        case Junction(operands=operands):
            for operand in operands:
                yield from walk(operand, items)
        case Comparison(left=left, rest=rest):
            yield from walk(left, items)
            for _, operand in rest:
                yield from walk(operand, items)
        case _:
            return
