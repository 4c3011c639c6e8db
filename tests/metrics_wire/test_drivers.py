"""The detector of drivers that do not close their logger: what it passes, and what it must not."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest

from contracts.metrics_wire.drivers import find_drivers
from impl.metrics_wire import run

RIGHT = {
    "attached before the try": """
        def drive(train, composite, logger):
            composite.loggers.append(logger)
            try:
                return train()
            finally:
                logger.close()
        """,
    "attached in the try": """
        def drive(train, composite, logger):
            try:
                composite.loggers.append(logger)
                train()
            finally:
                logger.finish()
                environment.shutdown()
        """,
    "in a with, closed under a shield": """
        def drive(train, self):
            with signals() as termination:
                self.composite.loggers.append(self.logger)
                try:
                    train()
                except ValueError:
                    raise
                finally:
                    with termination.shielded():
                        self.logger.close()
        """,
    "closed in a try of the finally": """
        async def drive(train, composite, logger):
            composite.loggers.append(logger)
            try:
                await train()
            finally:
                try:
                    logger.close()
                finally:
                    shutdown()
        """,
}

WRONG = {
    "no try": """
        def drive(train, composite, logger):
            composite.loggers.append(logger)
            train()
            logger.close()
        """,
    "closed after the try": """
        def drive(train, composite, logger):
            composite.loggers.append(logger)
            try:
                train()
            finally:
                environment.shutdown()
            logger.close()
        """,
    "closed in an except": """
        def drive(train, composite, logger):
            composite.loggers.append(logger)
            try:
                train()
            except BaseException:
                logger.close()
                raise
        """,
    "closed in an else": """
        def drive(train, composite, logger):
            composite.loggers.append(logger)
            try:
                train()
            except ValueError:
                raise
            else:
                logger.close()
        """,
    "closed behind a slow teardown": """
        def drive(train, composite, logger):
            composite.loggers.append(logger)
            try:
                train()
            finally:
                environment.shutdown()
                logger.close()
        """,
    "closed under a condition": """
        def drive(train, composite, logger):
            composite.loggers.append(logger)
            try:
                train()
            finally:
                if succeeded:
                    logger.close()
        """,
    "another one closed": """
        def drive(train, composite, logger, other):
            composite.loggers.append(logger)
            try:
                train()
            finally:
                other.close()
        """,
    "named and not called": """
        def drive(train, composite, logger):
            composite.loggers.append(logger)
            try:
                train()
            finally:
                logger.close
        """,
    "closed in a function that nobody calls": """
        def drive(train, composite, logger):
            composite.loggers.append(logger)
            try:
                train()
            finally:
                def close():
                    logger.close()
        """,
    "closed in a lambda": """
        def drive(train, composite, logger):
            composite.loggers.append(logger)
            try:
                train()
            finally:
                later = lambda: logger.close()
        """,
    "trained outside of the try": """
        def drive(train, composite, logger):
            composite.loggers.append(logger)
            train()
            try:
                pass
            finally:
                logger.close()
        """,
    "nothing trained in the try": """
        def drive(train, composite, logger):
            composite.loggers.append(logger)
            try:
                later = train
            finally:
                logger.close()
            later()
        """,
    "a statement between": """
        def drive(train, composite, logger):
            composite.loggers.append(logger)
            prepare()
            try:
                train()
            finally:
                logger.close()
        """,
    "the finally of an inner function": """
        def drive(train, composite, logger):
            composite.loggers.append(logger)
            def inner():
                try:
                    train()
                finally:
                    logger.close()
            train()
        """,
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_driver_passes(name: str) -> None:
    assert [driver.fault for driver in find_drivers(textwrap.dedent(RIGHT[name]))] == [None]


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_driver_does_not(name: str) -> None:
    (driver,) = find_drivers(textwrap.dedent(WRONG[name]))
    assert driver.fault
    assert driver.name == "drive"
    assert driver.line == 2


def test_what_attaches_nothing_is_no_driver() -> None:
    assert find_drivers("def f(x):\n    x.append(1)\n    loggers.append(x)\n") == []


def test_the_references_own_drivers_are_found_and_right() -> None:
    drivers = find_drivers(Path(run.__file__).read_text())
    assert [(driver.name, driver.fault) for driver in drivers] == [("run_grpo", None), ("run_dpo", None)]


def test_nothing_of_this_room_installs_stubs_into_sys_modules() -> None:
    root = Path(__file__).parents[2]
    paths = [
        path
        for folder in ("contracts/metrics_wire", "impl/metrics_wire", "tests/metrics_wire")
        for path in (root / folder).rglob("*.py")
    ]
    assert len(paths) > 50
    stores = []
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text())):
            targets = node.targets if isinstance(node, ast.Assign) else []
            stores += [path for target in targets if ast.unparse(target).startswith("sys.modules")]
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if called.startswith("sys.modules.") and called != "sys.modules.get":
                stores.append(path)
    assert stores == []
