"""A Python file as text with positions: parsed, never compiled, never run."""

import ast
import re
import sys
import threading
import warnings
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cached_property

from contracts.gym_overflow.gym.errors import SourceUnreadable

Function = ast.FunctionDef | ast.AsyncFunctionDef
Located = ast.stmt | ast.expr | ast.excepthandler | ast.pattern | ast.arg | ast.alias

# `warnings.catch_warnings` swaps process-wide state, so two threads must not interleave it.
_WARNINGS_LOCK = threading.Lock()
_NEWLINE = re.compile(rb"\r\n|\r|\n")
_LONGEST_EXCERPT = 120


def parse_module(text: str, path: str) -> ast.Module:
    """Parse `text` into a syntax tree; nothing of it runs.

    Args:
        text: the file's text.
        path: the file's label, for the message.

    Raises:
        SourceUnreadable: the text is not Python for the running interpreter.
    """
    try:
        # A dubious escape in Gym's strings is Gym's affair: under `-W error` it would end as a SyntaxError here.
        with _WARNINGS_LOCK, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except SyntaxError as error:
        running = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise SourceUnreadable(
            f"{path}:{error.lineno or 0}: Python {running} cannot parse this file: {error.msg}. "
            f"Check that it is a Python file; if it uses newer syntax, run under a newer Python."
        ) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise SourceUnreadable(f"{path}: this file cannot be parsed: {type(error).__name__} {error}.") from error


class SourceText:
    """A parsed file that knows every node's parent and every node's exact place in the text.

    Attributes:
        text: the file's text, line ends as they are.
        path: the file's label for messages.
    """

    def __init__(self, text: str, path: str) -> None:
        """Keep the text; parsing happens on first use."""
        self.text = text
        self.path = path

    @cached_property
    def module(self) -> ast.Module:
        """The syntax tree. Raises SourceUnreadable."""
        return parse_module(self.text, self.path)

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """Every node but the module, to its parent. Built without recursion: depth is the file's, not ours."""
        parents: dict[ast.AST, ast.AST] = {}
        pending: list[ast.AST] = [self.module]
        while pending:
            node = pending.pop()
            for child in ast.iter_child_nodes(node):
                parents[child] = node
                pending.append(child)
        return parents

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The node's parents, innermost first, up to the module."""
        while (parent := self.parents.get(node)) is not None:
            yield parent
            node = parent

    def place(self, node: ast.AST) -> str:
        """`file:line` of a node."""
        return f"{self.path}:{getattr(node, 'lineno', 0)}"

    @cached_property
    def data(self) -> bytes:
        """The text in UTF-8, which is what the tree's column offsets count in."""
        return self.text.encode()

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in _NEWLINE.finditer(self.data))]

    def span(self, node: Located) -> tuple[int, int]:
        """Start and end of a node, as byte offsets into `data`."""
        end_line = node.end_lineno or node.lineno
        return (
            self._line_starts[node.lineno - 1] + node.col_offset,
            self._line_starts[end_line - 1] + (node.end_col_offset or 0),
        )

    def line_of(self, offset: int) -> int:
        """The line (from 1) on which a byte offset lies."""
        return bisect_right(self._line_starts, offset)

    def segment(self, node: Located) -> str:
        """The exact text of a node."""
        start, end = self.span(node)
        return self.data[start:end].decode()

    def excerpt(self, node: ast.AST) -> str:
        """The text of a node on one line, short enough for a message."""
        if not isinstance(node, Located):
            return type(node).__name__
        text = " ".join(self.segment(node).split())
        return text if len(text) <= _LONGEST_EXCERPT else f"{text[: _LONGEST_EXCERPT - 4]} ..."


_BINDERS: dict[type[ast.AST], Callable[..., tuple[str | None, ...]]] = {
    ast.Name: lambda node: () if isinstance(node.ctx, ast.Load) else (node.id,),
    ast.arg: lambda node: (node.arg,),
    ast.alias: lambda node: (node.asname or node.name.split(".")[0],),
    ast.FunctionDef: lambda node: (node.name,),
    ast.AsyncFunctionDef: lambda node: (node.name,),
    ast.ClassDef: lambda node: (node.name,),
    ast.ExceptHandler: lambda node: (node.name,),
    ast.MatchAs: lambda node: (node.name,),
    ast.MatchStar: lambda node: (node.name,),
    ast.MatchMapping: lambda node: (node.rest,),
    ast.Global: lambda node: tuple(node.names),
    ast.Nonlocal: lambda node: tuple(node.names),
}


def names_bound_by(node: ast.AST) -> tuple[str | None, ...]:
    """The names that this one node (not its children) binds, deletes or redeclares, in whatever form."""
    binder = _BINDERS.get(type(node))
    return () if binder is None else binder(node)
