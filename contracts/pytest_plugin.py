"""The pytest plugin. It is imported in every pytest run of everyone who has us installed, so it imports only pytest."""

from __future__ import annotations

import pathlib
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

_MARKERS = (
    "contract(contract, name, check, level, version, known): one check of a contract; set by Contract.parametrize",
    "contract_mutant(contract, mutant, version): set by Contract.parametrize_mutants and ..._controls",
    "gpu: needs a CUDA device; selected by -m gpu, and then a missing device is a failure",
    "engine: starts a real vLLM or Megatron-Core process",
    "slow: takes more than ten seconds",
)

#: The running sessions, innermost last: the ``pyproject.toml`` of a session's root folder may hold known failures.
sessions: list[pytest.Config] = []


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add our three options."""
    group = parser.getgroup("contracts")
    group.addoption("--contracts-report", metavar="PATH", help="write the results of contract checks as JSON Lines")
    group.addoption("--contracts-only", metavar="IDS", help="run only these checks, such as GO-101,GO-204")
    group.addoption(
        "--contracts-profile",
        choices=("smoke", "default", "deep"),
        default="default",
        help="how many cases a check draws (default: %(default)s)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register our markers, and the recorder of the report where one is asked for."""
    for marker in _MARKERS:
        config.addinivalue_line("markers", marker)
    sessions.append(config)
    config.add_cleanup(lambda: sessions.remove(config))
    profile = config.getoption("--contracts-profile")
    if profile != "default":
        from contracts.profiles import current_profile  # noqa: PLC0415 - only when a profile is asked for

        token = current_profile.set(profile)
        config.add_cleanup(lambda: current_profile.reset(token))
    if path := config.getoption("--contracts-report"):
        if not (folder := pathlib.Path(path).parent).is_dir():
            raise pytest.UsageError(f"--contracts-report: there is no folder {folder}")
        if config.getoption("numprocesses", None):
            raise pytest.UsageError("--contracts-report: the checks of a report run in one process; leave out -n")
        from contracts.report.recorder import Recorder  # noqa: PLC0415 - only when a report is asked for

        config.pluginmanager.register(Recorder(path, profile), "contracts-recorder")


def pytest_report_header() -> list[str]:
    """Say which contracts are in use: another distribution on PyPI has the same import name."""
    package = sys.modules.get("contracts")
    return [f"contracts: {package.__file__}"] if package else []


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep only the checks that ``--contracts-only`` names."""
    if not (only := config.getoption("--contracts-only")):
        return
    wanted = {check_id.strip() for check_id in only.split(",") if check_id.strip()}
    found = {_check_id(item) for item in items}
    if missing := wanted - found:
        raise pytest.UsageError(f"--contracts-only: no collected check is called {', '.join(sorted(missing))}")
    dropped = [item for item in items if _check_id(item) not in wanted]
    items[:] = [item for item in items if _check_id(item) in wanted]
    config.hook.pytest_deselected(items=dropped)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, Any, Any]:
    """Show a capability that is not declared, and a proof without a baseline, as a skip; a failed SHOULD as an xfail.

    The decision falls when the test runs and not at collection, so that the number of collected checks is a constant
    of the contract's version.
    """
    try:
        return (yield)
    except Exception as error:
        if _told_apart(error):
            raise pytest.skip.Exception(str(error)) from error
        if _is_advice(pyfuncitem, error):
            raise pytest.xfail.Exception("SHOULD, not MUST") from error
        raise


def _is_advice(item: pytest.Item, error: Exception) -> bool:
    failure, marker = sys.modules.get("contracts.failure"), item.get_closest_marker("contract")
    if not (failure and isinstance(error, failure.ContractFailure) and marker):
        return False
    is_advice: bool = marker.kwargs["level"] == "SHOULD" and not marker.kwargs["known"]
    return is_advice and error.code == marker.kwargs["check"]


def _told_apart(error: Exception) -> bool:
    failure, mutant = sys.modules.get("contracts.failure"), sys.modules.get("contracts.mutant")
    return bool(
        (failure and isinstance(error, failure.NotDeclared)) or (mutant and isinstance(error, mutant.Inconclusive))
    )


def _check_id(item: pytest.Item) -> str | None:
    marker = item.get_closest_marker("contract")
    return marker.kwargs["check"] if marker else None
