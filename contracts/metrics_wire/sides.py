"""The contracts of this room."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contracts.contract import Contract

if TYPE_CHECKING:
    from contracts.metrics_wire.protocols import JobsService, LoggerAdapter

#: What a logger's adapter may declare.
CAPABILITIES = {
    "reports_to_service": (
        "The logger reports to the Jobs service of the task. Not declared: it sends nothing there and keeps the series "
        "in a store of its own, as TensorBoard does, which `stored` reads."
    ),
    "append": (
        "The logger appends new points where the service can. Not declared: it sends whole series to any service, and "
        "its cost is only held to the budget of whole series."
    ),
    "events": (
        "The logger also takes `training_start`, `epoch_end` and `checkpoint_saved`. Not declared: it has no such "
        "methods, as NeMo-RL's loops call none of them."
    ),
    "driver": (
        "`drive`, `driver_command` and `driver_sources` give the drivers that attach the logger and close it. "
        "Not declared: whoever uses the logger must see to its end."
    ),
    "runner": (
        "`runner` gives what another process writes the first and last reports of the task with. Not declared: the "
        "logger's process is the only one that reports."
    ),
}

logger: Contract[LoggerAdapter] = Contract(
    "metrics_wire.logger",
    version="1.0",
    summary="A training logger, against Jobs services that replace, merge or append what it reports, or its own store",
    reference="impl.metrics_wire.adapter:logger",
    capabilities=CAPABILITIES,
)

#: What a Jobs service may declare.
SERVICE_CAPABILITIES = {
    "append": (
        "`POST .../tasks/{task}/metrics` adds points to the stored series. Not declared: it is answered 404 or 405, "
        "and whoever reports sends whole series."
    ),
    "restart": (
        "`kill` and `restart` end the server with SIGKILL and start it again on its storage. Not declared: the adapter "
        "has no such methods, as for a server that someone else runs."
    ),
    "token": (
        "`guarded` gives the same service with a bearer token. Not declared: the adapter has no such method, and an "
        "`Authorization` changes nothing."
    ),
    "openapi": "The OpenAPI document is served at `/openapi.json`. Not declared: it is answered 404.",
    "body_limit": (
        "A body of more than `max_body` bytes is answered 413. Not declared: a body of 8 MiB is taken like any other."
    ),
}

service: Contract[JobsService] = Contract(
    "metrics_wire.service",
    version="1.0",
    summary="A Jobs service, against the loggers that report to it and the charts that read it",
    reference="impl.metrics_wire.service.adapter:service",
    capabilities=SERVICE_CAPABILITIES,
)
