"""Which local names of an `except ... as e` block hold the answer's status and body.

Followed by data flow inside the block, not guessed from names: a name counts only if the block binds it exactly
once, in a plain assignment before the classifier, from the exception's own status or decoded content.
"""

import ast
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from contracts.gym_overflow.gym.nodes import Body, Lower, Node, Status
from contracts.gym_overflow.gym.syntax import SourceText, names_bound_by

STATUS_ATTRIBUTES = frozenset({"status", "status_code"})
CONTENT_ATTRIBUTE = "response_content"


@dataclass(frozen=True)
class Bindings:
    """What names mean inside one `except` block.

    Attributes:
        exception: the name bound by `as`, or None where the classifier stands in no such block.
        names: local names that hold the status or the body, as nodes.
        refused: other names the block binds, and why they cannot be read.
    """

    exception: str | None
    names: Mapping[str, Node]
    refused: Mapping[str, str]


def _is_utf8(argument: ast.expr) -> bool:
    return isinstance(argument, ast.Constant) and str(argument.value).lower().replace("-", "") == "utf8"


def _decodes_content(call: ast.Call, exception: str) -> bool:
    """Whether `call` is `<exception>.response_content.decode(...)` to UTF-8 text."""
    match call:
        case ast.Call(
            func=ast.Attribute(value=ast.Attribute(value=ast.Name(id=name), attr=attribute), attr="decode"),
            args=arguments,
            keywords=keywords,
        ) if name == exception and attribute == CONTENT_ATTRIBUTE:
            encodings = [*arguments[:1], *(word.value for word in keywords if word.arg == "encoding")]
            others = [*arguments[1:], *(word.value for word in keywords if word.arg != "encoding")]
            return all(map(_is_utf8, encodings)) and all(isinstance(other, ast.Constant) for other in others)
        case _:
            return False


def _meaning(value: ast.expr, exception: str, names: Mapping[str, Node]) -> Node | None:
    """What an assigned value holds: status, body, lower-cased body, or None where it is neither."""
    match value:
        case ast.Attribute(value=ast.Name(id=name), attr=attribute) if (
            name == exception and attribute in STATUS_ATTRIBUTES
        ):
            return Status()
        case ast.Name(id=name):
            return names.get(name)
        case ast.Call(func=ast.Attribute(value=inner, attr="lower"), args=[], keywords=[]):
            text = _meaning(inner, exception, names)
            return Lower(text) if isinstance(text, Body | Lower) else None
        case ast.Call() if _decodes_content(value, exception):
            return Body()
        case _:
            return None


def read_bindings(source: SourceText, block: ast.ExceptHandler, before: ast.stmt) -> Bindings:
    """Find the names that hold status and body when `before` runs.

    Args:
        source: the file.
        block: the `except` block that encloses the classifier.
        before: the classifier's assignment.
    """
    bound = Counter(name for node in ast.walk(block) for name in names_bound_by(node) if name is not None)
    exception = block.name if block.name is not None and bound[block.name] == 1 else None
    names: dict[str, Node] = {}
    refused: dict[str, str] = {}
    for statement in block.body:
        if statement is before:
            break
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                pass
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                pass
            case _:
                continue
        meaning = None if exception is None else _meaning(value, exception, names)
        if bound[name] > 1:
            refused[name] = "it is bound more than once in this `except` block"
        elif meaning is None:
            refused[name] = f"it is bound at {source.place(statement)} to `{source.excerpt(value)}`"
        else:
            names[name] = meaning
    return Bindings(exception, names, refused)
