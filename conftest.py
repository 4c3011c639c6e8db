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

_ENGINES = ("vllm", "megatron", "transformers")
#: What ``CONTRACTS_REQUIRE`` may name, with commas between: tests that need it then fail where it is missing. The last
#: three are looked for in the conftest.py of the tests that need them.
_REQUIRABLE = frozenset({"engine", "gpu", "postgresql", "browser", "third-party"})


def pytest_configure() -> None:
    """Let the processes that tests start heed SIGINT, and refuse a run whose engines are required and missing."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if unknown := _required() - _REQUIRABLE:
        pytest.exit(
            f"CONTRACTS_REQUIRE names {', '.join(sorted(unknown))}; it knows {', '.join(sorted(_REQUIRABLE))}",
            returncode=1,
        )
    missing = [name for name in _ENGINES if importlib.util.find_spec(name) is None]
    if "engine" in _required() and missing:
        pytest.exit(
            f"engines were asked for (CONTRACTS_REQUIRE=engine) and {', '.join(missing)} cannot be imported, so their "
            "tests would skip: install the dependency group 'engines', as tox -e engines does",
            returncode=1,
        )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip GPU tests where there is no device, and fail the run where they were asked for."""
    required = "gpu" in _required() or _selects_gpu(config.getoption("markexpr"))
    if _has_device():
        return
    if required:
        pytest.exit(
            "GPU tests were asked for (-m gpu or CONTRACTS_REQUIRE=gpu) and torch finds no CUDA device: "
            "run them on a GPU machine, or leave them out with -m 'not gpu'",
            returncode=1,
        )
    for item in items:
        if item.get_closest_marker("gpu"):
            item.add_marker(pytest.mark.skip(reason="needs a CUDA device; -m gpu makes this a failure"))


def _required() -> set[str]:
    return set(filter(None, os.environ.get("CONTRACTS_REQUIRE", "").split(",")))


def _selects_gpu(expression: str) -> bool:
    return re.search(r"\bgpu\b", re.sub(r"\bnot\s+gpu\b", "", expression)) is not None


def _has_device() -> bool:
    if importlib.util.find_spec("torch") is None:
        return False
    import torch  # noqa: PLC0415 - a run without GPU tests need not have torch

    return bool(torch.cuda.is_available())
