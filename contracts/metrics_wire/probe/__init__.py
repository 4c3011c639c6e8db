"""A Jobs service on loopback that the contract owns: strict, exact in what it keeps, and faulty if told."""

from contracts.metrics_wire.probe.faults import Fault
from contracts.metrics_wire.probe.recorded import Recorded
from contracts.metrics_wire.probe.service import Probe
from contracts.metrics_wire.probe.tasks import Semantics

__all__ = ["Fault", "Probe", "Recorded", "Semantics"]
