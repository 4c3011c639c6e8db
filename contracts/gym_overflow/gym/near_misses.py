"""What else in a file could be the classifier, for the message when the variable itself is missing."""

import ast
from difflib import SequenceMatcher

from contracts.gym_overflow.gym.syntax import SourceText

_WORDS = ("context length", "context_length")
_SIMILAR = 0.7
_MOST = 5


def near_misses(source: SourceText, variable: str) -> tuple[str, ...]:
    """Assigned names that resemble `variable`, or conditions on the words it looks for, each with its place."""
    found: dict[str, int] = {}
    for node in source.parents:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                pass
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                pass
            case ast.NamedExpr(target=ast.Name(id=name), value=value):
                pass
            case _:
                continue
        if SequenceMatcher(None, name, variable).ratio() >= _SIMILAR or _seeks_words(value):
            found.setdefault(f"`{name}` at {source.place(node)}", node.lineno)
    return tuple(sorted(found, key=lambda place: found[place]))[:_MOST]


def _seeks_words(value: ast.expr) -> bool:
    """Whether a condition holds one of the classifier's words as a constant."""
    if not isinstance(value, ast.BoolOp | ast.Compare | ast.Call | ast.UnaryOp):
        return False
    return any(
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and any(word in node.value.lower() for word in _WORDS)
        for node in ast.walk(value)
    )
