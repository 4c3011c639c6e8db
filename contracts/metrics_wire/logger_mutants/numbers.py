"""Defects of the numbers."""

from __future__ import annotations

from contracts.metrics_wire.cases import Kind
from contracts.metrics_wire.logger_mutants.tampering import CallMutant
from contracts.metrics_wire.logger_mutants.values import changing
from contracts.metrics_wire.sides import logger


@logger.mutant("MW-M207a", killed_by="MW-207")
class MakesFloats(CallMutant):
    """makes a float of every integer"""

    logger_class = changing(
        lambda metrics: {name: float(value) if isinstance(value, int) else value for name, value in metrics.items()}
    )


@logger.mutant("MW-M203b", killed_by="MW-203", witness=Kind("0-d tensor"))
class WantsBuiltins(CallMutant):
    """drops what is neither an int nor a float of Python's own"""

    logger_class = changing(
        lambda metrics: {name: value for name, value in metrics.items() if isinstance(value, int | float)}
    )
