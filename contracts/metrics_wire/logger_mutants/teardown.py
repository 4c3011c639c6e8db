"""Defects of the drivers' source."""

from __future__ import annotations

import ast
import tempfile
import weakref
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from contracts.metrics_wire.logger_mutants.tampering import CallMutant
from contracts.metrics_wire.sides import logger

if TYPE_CHECKING:
    from collections.abc import Sequence


class _Rewritten(CallMutant, ABC):
    """Has the same drivers, rewritten."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        folder = tempfile.TemporaryDirectory()
        weakref.finalize(self, folder.cleanup)
        self._folder = Path(folder.name)

    @property
    def driver_sources(self) -> Sequence[Path]:
        rewritten = []
        for index, path in enumerate(self.inner.driver_sources):
            tree = self.transformer().visit(ast.parse(path.read_text()))
            copy = self._folder / f"driver_{index}.py"
            copy.write_text(ast.unparse(ast.fix_missing_locations(tree)))
            rewritten.append(copy)
        return rewritten

    @abstractmethod
    def transformer(self) -> ast.NodeTransformer:
        """What rewrites the syntax tree of a driver."""


@logger.mutant("MW-M521a", killed_by="MW-521")
class HasNoFinally(_Rewritten):
    """closes after the try instead of in its finally"""

    class Flat(ast.NodeTransformer):
        """Makes a sequence of a try and its finally."""

        def visit_Try(self, node: ast.Try) -> list[ast.stmt]:
            """Body, then the rest."""
            return [*node.body, *node.finalbody]

    def transformer(self) -> ast.NodeTransformer:
        """Without finally."""
        return self.Flat()


@logger.mutant("MW-M521b", killed_by="MW-521")
class TearsDownFirst(_Rewritten):
    """closes behind a slow teardown, which may fail"""

    class Slow(ast.NodeTransformer):
        """Puts a call before what a finally begins with."""

        def visit_Try(self, node: ast.Try) -> ast.Try:
            """With a teardown before the rest."""
            node.finalbody = [*ast.parse("environment.shutdown()").body, *node.finalbody]
            return node

    def transformer(self) -> ast.NodeTransformer:
        """With a slow teardown."""
        return self.Slow()


@logger.mutant("MW-M521c", killed_by="MW-521")
class ClosesAnother(_Rewritten):
    """closes another logger than the one that it attached"""

    class Other(ast.NodeTransformer):
        """Renames what is closed."""

        def visit_Try(self, node: ast.Try) -> ast.Try:
            """With another name in the finally."""
            node.finalbody = [
                statement
                for each in node.finalbody
                for statement in ast.parse(ast.unparse(each).replace(".close()", ".other.close()")).body
            ]
            return node

    def transformer(self) -> ast.NodeTransformer:
        """With another logger."""
        return self.Other()
