"""Implementations of others, held to the contracts: adapters in the folder beside this file, a test module each.

A module names what it needs in ``pytestmark = pytest.mark.third_party("package", ...)``. Where that is not installed
its tests are skipped; with ``CONTRACTS_REQUIRE=third-party``, as in the tox env, the run fails instead.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "adapters"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs a package that is not installed, or refuse the run that asked for all of them."""
    missing: set[str] = set()
    for item in items:
        if not (marker := item.get_closest_marker("third_party")):
            continue
        if lacking := [name for name in marker.args if importlib.util.find_spec(name) is None]:
            missing.update(lacking)
            item.add_marker(pytest.mark.skip(reason=f"needs {', '.join(lacking)}, as in tox -e third-party"))
    if missing and "third-party" in os.environ.get("CONTRACTS_REQUIRE", "").split(","):
        pytest.exit(
            "third-party implementations were asked for (CONTRACTS_REQUIRE=third-party), and their tests would skip: "
            f"{', '.join(sorted(missing))} cannot be imported; install the dependency group 'third-party', as tox does",
            returncode=1,
        )
