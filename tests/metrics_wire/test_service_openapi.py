"""The served document is exact: requests it allows and requests it forbids, as schemathesis makes them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from live_service import JOBS, live
from schemathesis.checks import load_all_checks
from schemathesis.generation.modes import GenerationMode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from live_service import LiveService

TASK = "/apis/jobs/v2/workspaces/{workspace}/jobs/{job}/steps/{step}/tasks/{task}"
load_all_checks()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    with live(str(tmp_path_factory.mktemp("database") / "jobs.sqlite")) as running:
        yield running


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=lambda mode: mode.name)
@pytest.mark.parametrize(
    ("method", "path"), [("PUT", TASK), ("POST", f"{TASK}/metrics"), ("GET", TASK), ("GET", JOBS)], ids=str
)
def test_generated_requests_are_answered_as_the_document_says(
    service: LiveService, method: str, path: str, mode: GenerationMode
) -> None:
    schema = schemathesis.openapi.from_url(f"{service.url}/openapi.json")

    @settings(max_examples=25, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(case=schema[path][method].as_strategy(generation_mode=mode))
    def run(case: schemathesis.Case) -> None:
        before = service.http.get(JOBS).content
        response = case.call()
        case.validate_response(response)
        if response.status_code >= 400:
            assert service.http.get(JOBS).content == before

    run()


def test_the_document_declares_no_status_that_is_never_answered(service: LiveService) -> None:
    document = service.http.get("/openapi.json").json()
    statuses = {
        f"{method} {path}": " ".join(operation["responses"])
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    }
    assert statuses == {
        f"put {TASK}": "200 400 413 415 422 503",
        f"get {TASK}": "200 304 404 422 503",
        f"post {TASK}/metrics": "200 400 404 413 415 422 503",
        f"get {JOBS}": "200 304 422 503",
        "get /healthz": "200 503",
    }
    assert "HTTPValidationError" not in json.dumps(document)
    assert "security" not in document


def test_the_health_of_the_service_is_told(service: LiveService) -> None:
    assert service.http.get("/healthz").json() == {"status": "ok"}
