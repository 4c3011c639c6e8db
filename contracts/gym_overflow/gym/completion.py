"""The completion that Gym answers with: read from its constructor call, in place or in a builder of the same file."""

import ast
from dataclasses import dataclass

from contracts.gym_overflow.gym.errors import HandlerNotUnderstood
from contracts.gym_overflow.gym.syntax import Function, SourceText


def not_understood(source: SourceText, node: ast.AST, reason: str) -> HandlerNotUnderstood:
    """The error for a handler that cannot be read: where, what, why."""
    return HandlerNotUnderstood(
        f"{source.place(node)}: `{source.excerpt(node)}`: what Gym does with its out-of-context decision cannot "
        f"be read: {reason}. Read the place by hand and teach the reader this form."
    )


@dataclass(frozen=True)
class Completion:
    """A chat completion as the source builds it.

    Attributes:
        builder: the function that builds it, or the constructor where it is built in place.
        completion_id: its constant id, or None where the id is not a constant.
        finish_reason: the node of its first choice's finish reason.
        empty: whether its message carries neither content nor tool calls.
    """

    builder: str
    completion_id: str | None
    finish_reason: ast.Constant
    empty: bool


def read_completion(source: SourceText, call: ast.Call, owner: ast.ClassDef | None) -> Completion:
    """Read the completion that `call` makes.

    Args:
        source: the file.
        call: `self.builder()`, `builder()` or a constructor with `choices=[...]`.
        owner: the class whose method holds the call.

    Raises:
        HandlerNotUnderstood: neither a builder defined in this file nor a constructor with constant choices.
    """
    match call.func:
        case ast.Attribute(value=ast.Name(id="self"), attr=name) if owner is not None:
            return _from_builder(source, call, name, owner.body)
        case ast.Name(id=name) if any(_is_function(statement, name) for statement in source.module.body):
            return _from_builder(source, call, name, source.module.body)
        case ast.Name(id=name):
            return _from_constructor(source, call, name)
        case _:
            raise not_understood(source, call, "neither a builder of this file nor a completion's constructor")


def _is_function(statement: ast.stmt, name: str) -> bool:
    return isinstance(statement, Function) and statement.name == name


def _from_builder(source: SourceText, call: ast.Call, name: str, scope: list[ast.stmt]) -> Completion:
    if call.args or call.keywords:
        raise not_understood(source, call, "the builder takes arguments")
    builders = [statement for statement in scope if _is_function(statement, name)]
    if len(builders) != 1:
        raise not_understood(source, call, f"`{name}` is defined {len(builders)} times where it was looked for")
    builder = builders[0]
    match builder:
        case ast.FunctionDef(body=[*docstring, ast.Return(value=ast.Call(func=ast.Name()) as made)]) if all(
            isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant) for statement in docstring
        ):
            return _from_constructor(source, made, name)
        case _:
            raise not_understood(source, builder, "the builder is more than one returned constructor call")


def _keywords(source: SourceText, call: ast.Call) -> dict[str, ast.expr]:
    """A constructor's arguments by name; positional and unpacked ones cannot be told apart and are refused."""
    keywords = {word.arg: word.value for word in call.keywords if word.arg is not None}
    if call.args or len(keywords) != len(call.keywords):
        raise not_understood(source, call, "the constructor takes positional or unpacked arguments")
    return keywords


def _from_constructor(source: SourceText, call: ast.Call, builder: str) -> Completion:
    fields = _keywords(source, call)
    match fields.get("choices"):
        case ast.List(elts=[ast.Call() as choice_call]):
            choice = _keywords(source, choice_call)
        case _:
            raise not_understood(source, call, "no `choices=[...]` with exactly one choice")
    match choice.get("finish_reason"):
        case ast.Constant(value=str()) as finish_reason:
            pass
        case _:
            raise not_understood(source, choice_call, "no constant `finish_reason`")
    match choice.get("message"):
        case ast.Call() as message_call:
            message = _keywords(source, message_call)
        case _:
            raise not_understood(source, choice_call, "no `message=...` that is a constructor call")
    identifier = fields.get("id")
    completion_id = str(identifier.value) if isinstance(identifier, ast.Constant) else None
    empty = all(_is_empty(value) for name, value in message.items() if name != "role")
    return Completion(builder, completion_id, finish_reason, empty)


def _is_empty(value: ast.expr) -> bool:
    match value:
        case ast.Constant(value=None | "") | ast.List(elts=[]):
            return True
        case _:
            return False
