"""The served document is exact: requests it allows and requests it forbids, as schemathesis makes them."""

from __future__ import annotations

import json

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.generation.modes import GenerationMode

from impl.gym_overflow.endpoint import create_app

SCHEMA = schemathesis.openapi.from_asgi("/openapi.json", create_app())
OPERATIONS = ("/v1/chat/completions", "/v1/completions", "/v1/responses", "/tokenize")
load_all_checks()
# A prompt may fill the window however valid it is: that 400 is what this endpoint is about.
PROMPT_LENGTH_IS_NO_SCHEMA = [check for check in CHECKS.get_all() if check.__name__ == "positive_data_acceptance"]
OVERFLOW_OR_CONTRADICTION = ("maximum context length", "least number of output")


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=lambda mode: mode.name)
@pytest.mark.parametrize("path", OPERATIONS)
def test_generated_requests_are_answered_as_the_document_says(path: str, mode: GenerationMode) -> None:
    @settings(max_examples=60, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(case=SCHEMA[path]["POST"].as_strategy(generation_mode=mode))
    def run(case: schemathesis.Case) -> None:
        response = case.call()
        case.validate_response(response, excluded_checks=PROMPT_LENGTH_IS_NO_SCHEMA)
        if mode is GenerationMode.POSITIVE and response.status_code != 200:
            message = response.json()["error"]["message"]
            assert any(words in message for words in OVERFLOW_OR_CONTRADICTION), message

    run()


@pytest.mark.parametrize("path", ["/health", "/v1/models"])
def test_information_routes_conform(path: str) -> None:
    case = SCHEMA[path]["GET"].Case()
    case.validate_response(case.call())


def test_the_document_declares_no_status_that_is_never_answered() -> None:
    document = SCHEMA.raw_schema
    for path in OPERATIONS:
        assert set(document["paths"][path]["post"]["responses"]) == {"200", "400", "404", "500"}
    assert "HTTPValidationError" not in json.dumps(document)
