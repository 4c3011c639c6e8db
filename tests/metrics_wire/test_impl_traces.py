"""The recorded loops, where they lie beside the repository: each ends as its first line says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from contracts.metrics_wire.traces import judge, load, replay
from impl.metrics_wire.adapter import logger as reference

if TYPE_CHECKING:
    from contracts.metrics_wire.probe import Probe

FOLDER = Path(__file__).parents[2].parent / "shared" / "traces"

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason=f"{FOLDER} is not there")


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.jsonl")), ids=lambda path: path.stem)
def test_a_recorded_loop_ends_as_it_should(path: Path, probe: Probe) -> None:
    trace = load(path)
    replay(trace, reference(), probe)
    stored = probe.stored()
    assert stored is not None
    verdict = judge(trace, stored["status_details"]["metrics"])
    assert verdict.mismatches == ()
    assert verdict.met
    assert verdict.not_judged == ()
