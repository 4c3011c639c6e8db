"""One readable classifier: its text, what it looks for, and what it says of an answer."""

import ast
from dataclasses import dataclass, field

from contracts.gym_overflow.gym.binding import Bindings
from contracts.gym_overflow.gym.errors import EvaluationError
from contracts.gym_overflow.gym.expression import read_expression
from contracts.gym_overflow.gym.lookups import statuses, triggers
from contracts.gym_overflow.gym.nodes import Node, Observation
from contracts.gym_overflow.gym.syntax import SourceText


@dataclass(frozen=True)
class Classifier:
    """A readable out-of-context expression.

    Attributes:
        source: the exact text of the expression.
        normalized: the same on one line, in one spelling, so that two releases compare by meaning.
        file: label of the file.
        line: first line of the expression.
        triggers: string constants that are looked up in the body, in order of appearance.
        statuses: whole numbers that the status is compared with, in order of appearance.
    """

    source: str
    normalized: str
    file: str
    line: int
    triggers: tuple[str, ...]
    statuses: tuple[int, ...]
    _root: Node = field(repr=False, compare=False)

    @classmethod
    def parse(
        cls, node: ast.expr, source: SourceText, bindings: Bindings, *, any_is_builtin: bool = True
    ) -> "Classifier":
        """Read an expression.

        Args:
            node: the expression.
            source: the file it stands in.
            bindings: which names hold status and body there.
            any_is_builtin: False where the file binds `any` itself.

        Raises:
            UnsupportedExpression: anything outside the whitelist.
        """
        root = read_expression(source, node, bindings, any_is_builtin=any_is_builtin)
        return cls(
            source=source.segment(node),
            normalized=ast.unparse(node),
            file=source.path,
            line=node.lineno,
            triggers=triggers(root),
            statuses=statuses(root),
            _root=root,
        )

    def evaluate(self, status: int, body: str) -> bool:
        """What the expression says of one answer.

        Args:
            status: HTTP status.
            body: decoded body.

        Raises:
            EvaluationError: the expression itself raises, for instance by ordering a string and a number.
        """
        try:
            return bool(self._root.value(Observation(status, body)))
        except TypeError as error:
            raise EvaluationError(
                f"{self.file}:{self.line}: `{self.normalized}` raises for status {status} and a body of "
                f"{len(body)} characters: {error}. Gym would fail there too; fix the expression."
            ) from error
