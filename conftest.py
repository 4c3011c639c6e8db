"""What every test of this project needs: signals that arrive, and GPU tests that never pass unnoticed."""

from __future__ import annotations

import importlib.util
import os
import re
import signal

import hypothesis
import pytest

# A machine that is busy is slow, and no test of ours asserts how fast an example is.
_LOADED = hypothesis.settings.get_profile(hypothesis.settings.get_current_profile_name())
hypothesis.settings.register_profile("rl-contracts-tests", _LOADED, deadline=None)
hypothesis.settings.load_profile("rl-contracts-tests")

#: Markers whose arguments are packages, to what ``CONTRACTS_REQUIRE`` calls them and to the tox env that has them.
_PACKAGES = {"engine": ("engine", "engines"), "gpu": ("gpu", "gpu"), "third_party": ("third-party", "third-party")}
#: What ``CONTRACTS_REQUIRE`` may name, with commas between: tests that need it then fail where it is missing. The
#: programs, and the recorded answers, are looked for by the fixtures that give them.
_REQUIRABLE = frozenset({"engine", "gpu", "postgresql", "browser", "corpus", "third-party"})


def pytest_configure() -> None:
    """Let the processes that tests start heed SIGINT, and refuse to require what nobody knows."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if unknown := _required() - _REQUIRABLE:
        pytest.exit(
            f"CONTRACTS_REQUIRE names {', '.join(sorted(unknown))}; it knows {', '.join(sorted(_REQUIRABLE))}",
            returncode=1,
        )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip what needs a package or a device that is not here, and fail the run that asked for it."""
    required = _required() | ({"gpu"} if _selects_gpu(config.getoption("markexpr")) else set())
    for marker, (kind, env) in _PACKAGES.items():
        missing = ", ".join(sorted(_skip_without_packages(items, marker, env)))
        if missing and kind in required:
            pytest.exit(
                f"tests marked {marker} were asked for and would skip: {missing} cannot be imported; "
                f"install what tox -e {env} installs",
                returncode=1,
            )
    if _has_device():
        return
    if "gpu" in required:
        pytest.exit(
            "GPU tests were asked for (-m gpu or CONTRACTS_REQUIRE=gpu) and torch finds no CUDA device: "
            "run them on a GPU machine, or leave them out with -m 'not gpu'",
            returncode=1,
        )
    for item in items:
        if item.get_closest_marker("gpu"):
            item.add_marker(pytest.mark.skip(reason="needs a CUDA device; -m gpu makes this a failure"))


@pytest.fixture(scope="session")
def required() -> set[str]:
    """What ``CONTRACTS_REQUIRE`` names."""
    return _required()


def _skip_without_packages(items: list[pytest.Item], marker: str, env: str) -> set[str]:
    missing: set[str] = set()
    for item in items:
        mark = item.get_closest_marker(marker)
        if mark and (lacking := [name for name in mark.args if importlib.util.find_spec(name) is None]):
            missing.update(lacking)
            item.add_marker(pytest.mark.skip(reason=f"needs {', '.join(lacking)}, as in tox -e {env}"))
    return missing


def _required() -> set[str]:
    return set(filter(None, os.environ.get("CONTRACTS_REQUIRE", "").split(",")))


def _selects_gpu(expression: str) -> bool:
    return re.search(r"\bgpu\b", re.sub(r"\bnot\s+gpu\b", "", expression)) is not None


def _has_device() -> bool:
    if importlib.util.find_spec("torch") is None:
        return False
    import torch  # noqa: PLC0415 - a run without GPU tests need not have torch

    return bool(torch.cuda.is_available())
