"""Recorded call sequences of the real loops: read, replayed against a logger, and judged."""

from contracts.metrics_wire.traces.recording import Trace, load
from contracts.metrics_wire.traces.replay import replay
from contracts.metrics_wire.traces.verdict import Verdict, judge

__all__ = ["Trace", "Verdict", "judge", "load", "replay"]
