"""What Gym does with the classifier's decision: the branch under the variable, and the way out beside it.

Read statement by statement by a short list of known forms. A form that is not on the list is an error with
file and line: a handler that was half understood would prove nothing.
"""

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from contracts.gym_overflow.gym.branch import OverflowBranch, is_reraise
from contracts.gym_overflow.gym.completion import not_understood
from contracts.gym_overflow.gym.syntax import Function, SourceText

_EXITS = (ast.Return, ast.Raise)
_LOOP_EXITS = (ast.Break, ast.Continue)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


@dataclass(frozen=True)
class Handler:
    """How an overflow and any other error leave the handler.

    A context manager around the handler is taken not to swallow exceptions.

    Attributes:
        finish_reason: finish reason that the rollout ends with, or None where an overflow is always re-raised.
        empty_completion: whether the completion carries neither content nor tool calls.
        propagate_flag: name of the configuration flag under which an overflow is re-raised instead, or None.
        propagate_default: that flag's default, or None where this file does not declare exactly one.
        otherwise: what becomes of an error that is no overflow.
        builder: function or constructor that makes the completion, or None.
        completion_id: the completion's constant id, or None.
        line: line of the branch.
    """

    finish_reason: str | None
    empty_completion: bool
    propagate_flag: str | None
    propagate_default: bool | None
    otherwise: Literal["raise", "swallow"]
    builder: str | None
    completion_id: str | None
    line: int = field(compare=False)


@dataclass(frozen=True)
class HandlerSyntax:
    """Where in the tree the decisive parts of a handler stand.

    Attributes:
        block: the `except` block.
        branch: the `if` on the classifier's variable.
        finish_reason: the constant that finally decides the finish reason, or None.
        reraise: the statement that re-raises an error that is no overflow, or None.
    """

    block: ast.ExceptHandler
    branch: ast.If
    finish_reason: ast.Constant | None
    reraise: ast.Raise | None


def read_handler(
    source: SourceText, assignment: ast.stmt, variable: str, block: ast.ExceptHandler
) -> tuple[Handler, HandlerSyntax]:
    """Read what follows the classifier in its `except` block.

    Args:
        source: the file.
        assignment: the classifier's assignment.
        variable: the classifier's variable.
        block: the `except` block around it.

    Raises:
        HandlerNotUnderstood: a form that is not known.
    """
    if assignment not in block.body:
        raise not_understood(source, assignment, "it stands in a nested block, so other ways lead past it")
    position = block.body.index(assignment)
    _refuse_exits(source, block.body[:position], "the `except` block can be left before the classifier")
    branch, following = _branch(source, block, position, variable)
    _refuse_catchers(source, block)
    overflow = OverflowBranch(source, block)
    overflow.read(branch)
    reraise = _reraise(source, block, [*branch.orelse, *following])
    completion = overflow.completion
    handler = Handler(
        finish_reason=None if overflow.finish_reason is None else str(overflow.finish_reason.value),
        empty_completion=completion is not None and completion.empty,
        propagate_flag=overflow.flag,
        propagate_default=None if overflow.flag is None else _default(source, overflow.flag),
        otherwise="swallow" if reraise is None else "raise",
        builder=None if completion is None else completion.builder,
        completion_id=None if completion is None else completion.completion_id,
        line=branch.lineno,
    )
    return handler, HandlerSyntax(block, branch, overflow.finish_reason, reraise)


def _branch(
    source: SourceText, block: ast.ExceptHandler, position: int, variable: str
) -> tuple[ast.If, Sequence[ast.stmt]]:
    """The `if` on the variable and the statements behind it."""
    for index, statement in enumerate(block.body[position + 1 :], start=position + 1):
        match statement:
            case ast.If(test=ast.Name(id=name)) if name == variable:
                return statement, block.body[index + 1 :]
            case _:
                _refuse_exits(source, [statement], f"no `if {variable}:` follows the classifier before this")
    raise not_understood(source, block.body[position], f"no `if {variable}:` follows in the same block")


def _exits(statements: Sequence[ast.stmt]) -> ast.AST | None:
    """The first statement that leaves the block; nested functions, and loops left by `break`, do not."""
    pending: list[tuple[ast.AST, bool]] = [(statement, False) for statement in reversed(statements)]
    while pending:
        node, in_loop = pending.pop()
        if isinstance(node, _EXITS) or (isinstance(node, _LOOP_EXITS) and not in_loop):
            return node
        if not isinstance(node, _SCOPES):
            in_loop = in_loop or isinstance(node, _LOOPS)
            pending.extend((child, in_loop) for child in ast.iter_child_nodes(node))
    return None


def _refuse_exits(source: SourceText, statements: Sequence[ast.stmt], reason: str) -> None:
    if (statement := _exits(statements)) is not None:
        raise not_understood(source, statement, reason)


def _refuse_catchers(source: SourceText, block: ast.ExceptHandler) -> None:
    """Refuse an enclosing `try` that could catch what the block re-raises, or leave by `finally`."""
    child: ast.AST = block
    for ancestor in source.ancestors(block):
        if isinstance(ancestor, Function):
            return
        if isinstance(ancestor, ast.TryStar) and child is block:
            raise not_understood(source, ancestor, "`except*` catches a group of errors, which has no status")
        if isinstance(ancestor, ast.Try | ast.TryStar):
            _refuse_exits(source, ancestor.finalbody, "`finally` leaves the function whatever was decided")
            if child in ancestor.body and ancestor.handlers:
                raise not_understood(source, ancestor, "an enclosing `try` may catch what is re-raised")
        child = ancestor


def _reraise(source: SourceText, block: ast.ExceptHandler, statements: Sequence[ast.stmt]) -> ast.Raise | None:
    """The statement that re-raises the caught error, or None where the statements run off their end."""
    for statement in statements:
        if isinstance(statement, ast.Raise) and is_reraise(statement, block):
            return statement
        if not isinstance(statement, ast.Expr | ast.Pass):
            raise not_understood(source, statement, "an error that is no overflow is neither re-raised nor dropped")
    return None


def _default(source: SourceText, flag: str) -> bool | None:
    defaults = [
        node.value.value
        for node in source.parents
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and node.target.id == flag
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, bool)
    ]
    return defaults[0] if len(defaults) == 1 else None
