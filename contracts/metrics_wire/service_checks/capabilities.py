"""99x: what a service does not declare is absent, and not half there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contracts.level import Level
from contracts.metrics_wire.service_cases import Kind
from contracts.metrics_wire.service_task import JSON, Task, is_acknowledged, point, shown
from contracts.metrics_wire.sides import SERVICE_CAPABILITIES, service
from contracts.metrics_wire.sources import jobs
from contracts.served_document import DOCUMENT

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.metrics_wire.protocols import JobsService

_ABSENT = (404, 405)
#: Bytes of a body that a service takes which declares no limit.
_LARGE = 8 << 20
_METHODS = {"restart": ("kill", "restart"), "token": ("guarded",)}


@service.check(
    "MW-991",
    level=Level.SHOULD,
    source=jobs("a logger finds out by trying what a service can do"),
    examples=tuple(map(Kind, SERVICE_CAPABILITIES)),
)
def undeclared_means_absent(check: Check[JobsService], adapter: JobsService, case: Kind) -> None:
    """A capability that is not declared is absent in the way that its description says.

    Why: a route that exists but was never declared is held to nothing, and a logger that finds it relies on it.

    Usual cause: a capability was left out of the adapter to silence a check.
    """
    if case.kind in adapter.capabilities:
        return
    task = Task(check, adapter)
    task.write(status="active", status_details={"metrics": {"train_loss": [point(1, 0.5)]}})
    before = task.stored
    want = SERVICE_CAPABILITIES[case.kind]
    if there := [name for name in _METHODS.get(case.kind, ()) if callable(getattr(adapter, name, None))]:
        raise check.fail(f"{case.kind} is not declared, but the adapter has it", got=there, want=want)
    if case.kind == "body_limit":
        answer = task.send("PUT", b'{"status": "active"}'.ljust(_LARGE), headers=JSON)
        if not is_acknowledged(answer):
            raise check.fail("body_limit is not declared but there", got=shown(answer), want=want)
    if case.kind in {"append", "openapi"}:
        metrics = {"train_loss": [point(2, 0.25)]}
        answer = task.post(metrics) if case.kind == "append" else adapter.request("GET", DOCUMENT)
        if answer.status not in _ABSENT:
            raise check.fail(f"{case.kind} is not declared but served", got=shown(answer), want=want)
        task.hold(before, "what was refused changed the task")
