"""With a token configured nothing is answered without it, and everything with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import pytest
from live_service import JOBS, live

if TYPE_CHECKING:
    from collections.abc import Iterator

    from live_service import LiveService

TOKEN = "tök-en:with/colon"  # noqa: S105 - of a service that lives as long as this test


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    with live(str(tmp_path_factory.mktemp("database") / "jobs.sqlite"), token=TOKEN) as running:
        running.put({"status": "active"})
        yield running


def every_request(service: LiveService) -> list[tuple[str, str]]:
    pages = ["/", "/assets/page.css", "/workspaces/research/jobs/job-1/steps/train/tasks/main"]
    own = ["/healthz", "/openapi.json", JOBS, service.path()]
    nowhere = ["/nowhere", "/docs", "/redoc", "//", "/%00"]
    writes = [("PUT", service.path()), ("POST", f"{service.path()}/metrics"), ("DELETE", service.path())]
    return [("GET", path) for path in (*pages, *own, *nowhere)] + writes + [("OPTIONS", JOBS), ("HEAD", "/")]


@pytest.mark.parametrize(
    "authorization",
    [
        None,
        "",
        "Bearer",
        "Bearer wrong",
        f"Bearer {TOKEN}x",
        f"Token {TOKEN}",
        "Basic",
        "Basic !",
        "Basic dTo=",
    ],
    ids=str,
)
def test_nothing_is_answered_without_the_token(service: LiveService, authorization: str | None) -> None:
    before = service.get().content
    headers = {} if authorization is None else {b"authorization": authorization.encode()}
    with httpx.Client(base_url=service.url, trust_env=False) as stranger:
        for method, path in every_request(service):
            answer = stranger.request(method, path, headers=headers, json={"status": "error"})
            assert answer.status_code == 401, (method, path)
            assert method == "HEAD" or answer.json() == {"message": "authorization: the token is missing or wrong"}
            assert "Basic" in answer.headers["www-authenticate"]
            assert "Bearer" in answer.headers["www-authenticate"]
    assert service.get().content == before


def test_a_browser_gives_the_token_as_password(service: LiveService) -> None:
    credentials = httpx.BasicAuth("anyone", TOKEN)
    with httpx.Client(base_url=service.url, auth=credentials, trust_env=False) as browser:
        for path in ("/", "/healthz", "/openapi.json", JOBS, service.path()):
            assert browser.get(path).status_code == 200
        assert browser.get("/nowhere").status_code == 404


def test_the_document_says_that_every_route_asks_for_the_token(service: LiveService) -> None:
    document = service.http.get("/openapi.json").json()
    assert document["security"] == [{"bearer": []}, {"basic": []}]
    operations = [operation for path in document["paths"].values() for operation in path.values()]
    assert operations
    assert all("401" in operation["responses"] for operation in operations)
