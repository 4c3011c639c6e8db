"""Without a token, a service on loopback is reached by no name that someone else's name server could point to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from live_service import JOBS, live

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from live_service import LiveService

OWN = ["127.0.0.1", "127.0.0.1:8321", "127.0.0.9", "localhost", "LocalHost:8321", "[::1]", "[::1]:8321", ""]
FOREIGN = ["evil.example", "evil.example:8321", "localhost.evil.example", "127.0.0.1.evil.example", "[evil]", ":8321"]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    with live(str(tmp_path_factory.mktemp("database") / "jobs.sqlite"), is_local=True) as running:
        running.put({"status": "active"})
        yield running


@pytest.mark.parametrize("host", OWN)
def test_this_machine_is_answered(service: LiveService, host: str) -> None:
    assert service.http.get(JOBS, headers={"host": host}).status_code == 200


@pytest.mark.parametrize("host", FOREIGN)
@pytest.mark.parametrize("path", ["/", JOBS, "/openapi.json"])
def test_another_name_reads_nothing(service: LiveService, host: str, path: str) -> None:
    answer = service.http.get(path, headers={"host": host})
    assert (answer.status_code, list(answer.json())) == (421, ["message"])
    assert "--token" in answer.json()["message"]


def test_another_name_changes_nothing(service: LiveService) -> None:
    before = service.get().content
    answer = service.http.put(service.path(), json={"status": "error"}, headers={"host": "evil.example"})
    assert answer.status_code == 421
    assert service.get().content == before


def test_whoever_has_the_token_or_listens_beyond_loopback_has_any_name(tmp_path: Path) -> None:
    for number, settings in enumerate(({"token": "secret", "is_local": True}, {"is_local": False})):
        with live(str(tmp_path / f"{number}.sqlite"), **settings) as service:
            assert service.http.get(JOBS, headers={"host": "jobs.example"}).status_code == 200
