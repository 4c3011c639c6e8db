"""The probe, against which loggers are held, is itself a Jobs service by the contract."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from contracts import metrics_wire
from contracts.metrics_wire.probe import Probe, Semantics
from contracts.metrics_wire.url_service import UrlService

if TYPE_CHECKING:
    from collections.abc import Iterator

    from contracts.check import Check

CONTRACT = metrics_wire.service
MAX_BODY = 1 << 20


class ProbeService(UrlService):
    """The probe behind the protocol of the contract. It dies as a process does, and keeps what it had."""

    def __init__(self, probe: Probe, *, append: bool) -> None:
        capabilities = {"restart", "body_limit"} | ({"append"} if append else set())
        super().__init__(
            probe.base_url,
            probe.tasks.semantics.value,
            capabilities=capabilities,
            keeps_appended=probe.tasks.keeps_appended,
            max_body=MAX_BODY,
            name="probe",
        )
        self.kill = probe.die
        self.restart = probe.come_back


@pytest.fixture(scope="module", params=["replace", "merge+append", "replace+dropping append"])
def adapter(request: pytest.FixtureRequest) -> Iterator[ProbeService]:
    """The probe of each kind."""
    rule, _, kind = request.param.partition("+")
    options = {"append": bool(kind), "keeps_appended": "dropping" not in kind, "max_body": MAX_BODY}
    with Probe(Semantics(rule), **options) as probe, ProbeService(probe, append=bool(kind)) as live:
        yield live


@CONTRACT.parametrize()
def test_the_probe_holds(adapter: ProbeService, check: Check[Any]) -> None:
    check.verify(adapter, profile="smoke")
