"""3xx: every error has the shape that clients read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contracts.gym_overflow import sources, strategies
from contracts.gym_overflow.endpoint_checks.faults import EACH_FAULT
from contracts.gym_overflow.fault import FaultyRequest, send_faulty
from contracts.gym_overflow.judging import shown
from contracts.gym_overflow.refusal import is_error_object
from contracts.gym_overflow.sides import endpoint

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.gym_overflow.protocols import Endpoint

_FIRST_ERROR, _FIRST_SERVER_ERROR = 400, 500


@endpoint.check("GO-301", source=sources.RETRIES, examples=EACH_FAULT, cases=strategies.faulty_requests)
def client_error_is_no_server_error(check: Check[Endpoint], adapter: Endpoint, case: FaultyRequest) -> None:
    """No mistake of a client is answered with a 5xx.

    Why: a 5xx is retried as infrastructure trouble, three times by the proxy and five by the trainer.

    Usual cause: the body is parsed outside the handler that turns errors into answers.
    """
    answer = send_faulty(adapter, case)
    if answer.status >= _FIRST_SERVER_ERROR:
        raise check.fail(f"a client error ({case.fault}) became a server error", got=shown(answer), want="a 4xx")


@endpoint.check("GO-302", source=sources.OPENAI_ERRORS, examples=EACH_FAULT, cases=strategies.faulty_requests)
def errors_are_error_objects(check: Check[Endpoint], adapter: Endpoint, case: FaultyRequest) -> None:
    """Every refusal of a faulty request is an OpenAI error object in JSON.

    Why: clients look for error.message; what they do not find they report as an unknown failure.

    Usual cause: the web framework answers validation errors before the application sees them.
    """
    answer = send_faulty(adapter, case)
    if answer.status < _FIRST_ERROR:
        return
    if not is_error_object(answer):
        raise check.fail(
            f"the refusal of a faulty request ({case.fault}) is no error object",
            got=shown(answer),
            want="JSON with error.message and error.type as text",
            content_type=answer.headers.get("content-type"),
        )
