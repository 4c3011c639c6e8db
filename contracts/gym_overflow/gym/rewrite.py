"""Gym sources with one seeded defect: what a future release could do to its classifier.

Each function gives a new source; the given one stays as it is and nothing is written to disk. Lines keep their
numbers. `site` is the index of the site to rewrite (from 0); by default every site is rewritten, so giving it
makes one site differ from the others. Each raises RewriteNotApplicable where there is nothing to change.
"""

import ast
import io
import tokenize
from collections.abc import Iterator

from contracts.gym_overflow.gym.edit import Edit, replacing, rewritten
from contracts.gym_overflow.gym.sites import VARIABLE, Site
from contracts.gym_overflow.gym.source import GymSource


def reword(source: GymSource, trigger: str, other: str, *, site: int | None = None) -> GymSource:
    """Look for other words in the body.

    Args:
        source: the source.
        trigger: a string constant of the expression, as it stands.
        other: what stands there instead.
        site: see the module.
    """

    def edits(each: Site) -> Iterator[Edit]:
        for node in _constants(each):
            if node.value == trigger:
                yield replacing(source, node, repr(other))

    return rewritten(source, f"{trigger!r} reworded to {other!r}", site, edits)


def require_upper_case(source: GymSource, *, site: int | None = None) -> GymSource:
    """Look for every trigger in upper case, which a case-sensitive expression never meets."""

    def edits(each: Site) -> Iterator[Edit]:
        for node in _constants(each):
            if node.value in each.classifier.triggers:
                yield replacing(source, node, repr(str(node.value).upper()))

    return rewritten(source, "triggers in upper case", site, edits)


def change_status(source: GymSource, status: int = 400, other: int = 422, *, site: int | None = None) -> GymSource:
    """Ask for another status.

    Args:
        source: the source.
        status: a number that the expression holds the status against.
        other: what stands there instead.
        site: see the module.
    """

    def edits(each: Site) -> Iterator[Edit]:
        for node in _constants(each):
            if type(node.value) is int and node.value == status:
                yield replacing(source, node, str(other))

    return rewritten(source, f"status {status} changed to {other}", site, edits)


def swap_and_or(source: GymSource, *, site: int | None = None) -> GymSource:
    """Swap every `and` with `or` in the expression."""
    swapped = {"and": "or", "or": "and"}

    def edits(each: Site) -> Iterator[Edit]:
        expression = each.syntax.expression
        start, _ = source.syntax.span(expression)
        segment = source.syntax.segment(expression)
        # Parenthesised, because the tokenizer would end the expression at its first line break.
        lines = io.StringIO(f"({segment})")
        text = lines.getvalue().splitlines(keepends=True)
        for token in tokenize.generate_tokens(lines.readline):
            if token.type == tokenize.NAME and token.string in swapped:
                row, column = token.start
                before = "".join(text[: row - 1]) + text[row - 1][:column]
                offset = start + len(before.encode()) - len("(")
                yield Edit(offset, offset + len(token.string), swapped[token.string])

    return rewritten(source, "`and` and `or` swapped", site, edits)


def drop_site(source: GymSource, site: int) -> GymSource:
    """Drop one site: its classifier and its branch go, so that it re-raises every error.

    The only site of a source is dropped too; asking that source for its sites then says that there is none.
    """

    def edits(each: Site) -> Iterator[Edit]:
        yield _block_edit(source, each.syntax.assignment, each.syntax.handler.branch, "raise")

    return rewritten(source, "classifier dropped", site, edits)


def rename_variable(source: GymSource, other: str = "is_context_overflow", *, site: int | None = None) -> GymSource:
    """Give the classifier's variable another name."""

    def edits(each: Site) -> Iterator[Edit]:
        for node in ast.walk(each.syntax.handler.block):
            if isinstance(node, ast.Name) and node.id == VARIABLE:
                yield replacing(source, node, other)

    return rewritten(source, f"variable renamed to {other}", site, edits)


def change_finish_reason(source: GymSource, other: str = "stop", *, site: int | None = None) -> GymSource:
    """End an overflowed rollout with another finish reason.

    Where the reason stands in a builder that several sites share, all of them change with it.
    """

    def edits(each: Site) -> Iterator[Edit]:
        node = each.syntax.handler.finish_reason
        if node is not None and node.value != other:
            yield replacing(source, node, repr(other))

    return rewritten(source, f"finish reason changed to {other!r}", site, edits)


def swallow_other_errors(source: GymSource, *, site: int | None = None) -> GymSource:
    """Drop the statement that re-raises an error that is no overflow."""

    def edits(each: Site) -> Iterator[Edit]:
        node = each.syntax.handler.reraise
        if node is not None:
            yield replacing(source, node, "pass")

    return rewritten(source, "other errors swallowed", site, edits)


def propagate_always(source: GymSource, *, site: int | None = None) -> GymSource:
    """Re-raise an overflow too, under no flag."""

    def edits(each: Site) -> Iterator[Edit]:
        if each.handler.finish_reason is not None:
            body = each.syntax.handler.branch.body
            yield _block_edit(source, body[0], body[-1], "raise")

    return rewritten(source, "overflow re-raised", site, edits)


def _constants(site: Site) -> Iterator[ast.Constant]:
    """The expression's constants; the same node never comes twice."""
    for node in ast.walk(site.syntax.expression):
        if isinstance(node, ast.Constant):
            yield node


def _block_edit(source: GymSource, first: ast.stmt, last: ast.stmt, statement: str) -> Edit:
    """The edit that puts one statement in place of several, with blank lines so that later lines keep their numbers."""
    start, _ = source.syntax.span(first)
    _, end = source.syntax.span(last)
    gone = source.syntax.line_of(end) - source.syntax.line_of(start)
    return Edit(start, end, statement + "\n" * gone)
