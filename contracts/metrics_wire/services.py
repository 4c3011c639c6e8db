"""The kinds of Jobs service that a logger must be right under."""

from __future__ import annotations

from enum import StrEnum

from contracts.metrics_wire.probe import Probe, Semantics


class Service(StrEnum):
    """What an update does to the stored ``status_details``, and whether points can be appended."""

    REPLACE = "replace"
    MERGE = "merge"
    APPEND = "append"
    MERGE_APPEND = "merge+append"


def probe_of(service: Service, *, max_body: int | None = None) -> Probe:
    """A probe of that kind, which watches for stored points that vanish."""
    return Probe(
        Semantics.MERGE if service in {Service.MERGE, Service.MERGE_APPEND} else Semantics.REPLACE,
        append=service in {Service.APPEND, Service.MERGE_APPEND},
        max_body=max_body,
        watch=True,
    )
