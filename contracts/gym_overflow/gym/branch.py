"""How Gym answers an overflow: the branch under the classifier's variable, by a short list of known forms."""

import ast

from contracts.gym_overflow.gym.completion import Completion, not_understood, read_completion
from contracts.gym_overflow.gym.syntax import Function, SourceText


def is_reraise(statement: ast.stmt, block: ast.ExceptHandler) -> bool:
    """Whether a statement re-raises, unchanged, what the block caught."""
    match statement:
        case ast.Raise(exc=None, cause=None):
            return True
        case ast.Raise(exc=ast.Name(id=name), cause=None):
            return name == block.name
        case _:
            return False


class OverflowBranch:
    """The branch under the classifier's variable, statement by statement, until it leaves the function.

    Attributes:
        flag: configuration flag under which it re-raises before it answers, or None.
        completion: the completion it answers with, or None where it always re-raises.
        finish_reason: the constant that finally decides that completion's finish reason, or None.
    """

    def __init__(self, source: SourceText, block: ast.ExceptHandler) -> None:
        self._source = source
        self._block = block
        self._owner = self._enclosing_class()
        self._name: str | None = None
        self.flag: str | None = None
        self.completion: Completion | None = None
        self.finish_reason: ast.Constant | None = None

    def _enclosing_class(self) -> ast.ClassDef | None:
        ancestors = [
            node
            for node in self._source.ancestors(self._block)
            if isinstance(node, Function | ast.ClassDef | ast.Lambda)
        ]
        match ancestors:
            case [ast.FunctionDef() | ast.AsyncFunctionDef(), ast.ClassDef() as owner, *_]:
                return owner
            case _:
                return None

    def read(self, branch: ast.If) -> None:
        """Read the branch up to the statement that leaves it. Raises HandlerNotUnderstood."""
        for statement in branch.body:
            if self._leaves(statement):
                return
        raise not_understood(self._source, branch, "the overflow branch ends in neither return nor raise")

    def _made(self, call: ast.Call) -> None:
        self.completion = read_completion(self._source, call, self._owner)
        self.finish_reason = self.completion.finish_reason

    def _leaves(self, statement: ast.stmt) -> bool:
        match statement:
            case ast.Return(value=ast.Name(id=name)) if name == self._name:
                return True
            case ast.Return(value=ast.Call() as call):
                self._made(call)
                return True
            case ast.Raise() if is_reraise(statement, self._block):
                self.completion = self.finish_reason = None
                return True
            case _:
                self._continues(statement)
                return False

    def _continues(self, statement: ast.stmt) -> None:
        match statement:
            case ast.If(
                test=ast.Attribute(value=ast.Attribute(value=ast.Name(id="self"), attr="config"), attr=flag),
                body=[*notes, leave],
                orelse=[],
            ) if (
                self.flag is None
                and is_reraise(leave, self._block)
                and all(isinstance(note, ast.Expr) for note in notes)
            ):
                self.flag = flag
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
                self._name = name
                self._made(call)
            case ast.Assign(
                targets=[
                    ast.Attribute(
                        value=ast.Subscript(
                            value=ast.Attribute(value=ast.Name(id=name), attr="choices"),
                            slice=ast.Constant(value=0),
                        ),
                        attr="finish_reason",
                    )
                ],
                value=ast.Constant(value=str()) as reason,
            ) if name == self._name:
                self.finish_reason = reason
            case ast.Expr(value=value) if not any(
                isinstance(node, ast.Name) and node.id == self._name for node in ast.walk(value)
            ):
                pass
            case _:
                raise not_understood(self._source, statement, "not a known form of answering an overflow")
