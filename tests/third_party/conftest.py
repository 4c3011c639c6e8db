"""Implementations of others, held to the contracts: adapters in the folder beside this file, a test module each.

A module names what it needs in ``pytestmark = pytest.mark.third_party("package", ...)``. Where that is not installed
its tests are skipped; with ``CONTRACTS_REQUIRE=third-party``, as in the tox env, the run fails instead.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "adapters"))
