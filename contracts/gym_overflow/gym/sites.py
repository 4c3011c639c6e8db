"""Every place where a Gym file decides "out of context": found by the variable's name, none passed over."""

import ast
from dataclasses import dataclass, field
from typing import NoReturn

from contracts.gym_overflow.gym.binding import read_bindings
from contracts.gym_overflow.gym.classifier import Classifier
from contracts.gym_overflow.gym.completion import not_understood
from contracts.gym_overflow.gym.errors import SiteNotFound
from contracts.gym_overflow.gym.expression import unsupported
from contracts.gym_overflow.gym.handler import Handler, HandlerSyntax, read_handler
from contracts.gym_overflow.gym.near_misses import near_misses
from contracts.gym_overflow.gym.syntax import Function, SourceText, names_bound_by

VARIABLE = "is_out_of_context_length"
"""The variable that holds Gym's decision in every published release."""


@dataclass(frozen=True)
class SiteSyntax:
    """Where in the tree a site stands.

    Attributes:
        function: the enclosing function.
        assignment: the classifier's assignment.
        expression: the assigned expression.
        handler: the decisive parts of its handler.
    """

    function: Function
    assignment: ast.Assign | ast.AnnAssign
    expression: ast.expr
    handler: HandlerSyntax


@dataclass(frozen=True)
class Site:
    """One classifier in its place.

    Attributes:
        file: label of the file.
        line: line of the assignment, from 1.
        function: qualified name of the enclosing function.
        classifier: the expression.
        handler: what Gym does with its value.
        syntax: positions in the tree, for rewriting.
    """

    file: str
    line: int
    function: str
    classifier: Classifier
    handler: Handler
    syntax: SiteSyntax = field(repr=False, compare=False)


def find_sites(source: SourceText) -> tuple[Site, ...]:
    """Read every site of a file, in order of their lines.

    Raises:
        SourceUnreadable: the file does not parse.
        SiteNotFound: the variable is never assigned.
        UnsupportedExpression: the variable is bound by a form or to an expression outside the whitelist.
        HandlerNotUnderstood: what follows the decision has an unknown form.
    """
    assignments: list[ast.Assign | ast.AnnAssign] = []
    reads: list[ast.Name] = []
    any_is_builtin = True
    for node in source.parents:
        if isinstance(node, ast.Name) and node.id == VARIABLE and isinstance(node.ctx, ast.Load):
            reads.append(node)
            continue
        bound = names_bound_by(node)
        any_is_builtin = any_is_builtin and "any" not in bound
        if VARIABLE in bound:
            assignments.append(_plain_assignment(source, node))
        elif isinstance(node, ast.Attribute) and node.attr == VARIABLE and not isinstance(node.ctx, ast.Load):
            _refuse_binding(source, node)
    if not assignments:
        raise _not_found(source)
    assignments.sort(key=lambda statement: statement.lineno)
    sites = tuple(_site(source, assignment, any_is_builtin=any_is_builtin) for assignment in assignments)
    branches = {site.syntax.handler.branch.test for site in sites}
    for read in sorted(reads, key=lambda name: name.lineno):
        if read not in branches:
            raise not_understood(source, _statement(source, read), f"`{VARIABLE}` is read here too")
    return sites


def _statement(source: SourceText, node: ast.AST) -> ast.AST:
    return next((parent for parent in source.ancestors(node) if isinstance(parent, ast.stmt)), node)


def _refuse_binding(source: SourceText, node: ast.AST) -> NoReturn:
    raise unsupported(source, node, f"`{VARIABLE}` is bound by something else than `{VARIABLE} = <expression>`")


def _plain_assignment(source: SourceText, node: ast.AST) -> ast.Assign | ast.AnnAssign:
    """The plain assignment that binds the variable; every other binding is refused, never passed over."""
    match source.parents[node]:
        case ast.Assign(targets=[target]) as statement if target is node:
            return statement
        case ast.AnnAssign(target=target, value=ast.expr()) as annotated if target is node:
            return annotated
        case ast.stmt() | ast.expr() as parent if isinstance(node, ast.expr):
            _refuse_binding(source, parent)
        case _:
            _refuse_binding(source, node)


def _site(source: SourceText, assignment: ast.Assign | ast.AnnAssign, *, any_is_builtin: bool) -> Site:
    expression = assignment.value
    block: ast.ExceptHandler | None = None
    for ancestor in source.ancestors(assignment):
        if isinstance(ancestor, ast.ExceptHandler) and block is None:
            block = ancestor
        if isinstance(ancestor, Function):
            break
    else:
        raise unsupported(source, assignment, "it stands in no function")
    if block is None or expression is None:
        raise unsupported(source, assignment, "it stands in no `except ... as` block, so no status is in sight")
    classifier = Classifier.parse(
        expression, source, read_bindings(source, block, assignment), any_is_builtin=any_is_builtin
    )
    handler, syntax = read_handler(source, assignment, VARIABLE, block)
    return Site(
        file=source.path,
        line=assignment.lineno,
        function=_qualified_name(source, ancestor),
        classifier=classifier,
        handler=handler,
        syntax=SiteSyntax(ancestor, assignment, expression, syntax),
    )


def _qualified_name(source: SourceText, function: Function) -> str:
    name = function.name
    for ancestor in source.ancestors(function):
        if isinstance(ancestor, Function):
            name = f"{ancestor.name}.<locals>.{name}"
        elif isinstance(ancestor, ast.ClassDef):
            name = f"{ancestor.name}.{name}"
    return name


def _not_found(source: SourceText) -> SiteNotFound:
    candidates = near_misses(source, VARIABLE)
    nearest = f"Nearest: {'; '.join(candidates)}." if candidates else "No other variable of it comes near."
    return SiteNotFound(
        f"{source.path}: looked for an assignment to `{VARIABLE}` and found none. {nearest} If Gym renamed or moved "
        f"its classifier, the contract must be taught the new place; until then nothing is known of this Gym."
    )
