"""How a Jobs service refuses: a 4xx, and a JSON message that names what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contracts.metrics_wire.service_task import is_refused, shown, strict_json

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.metrics_wire.protocols import JobsService, ServiceAnswer


def message_of(answer: ServiceAnswer) -> str:
    """The message of a refusal, empty where there is none."""
    try:
        body = strict_json(answer.body)
    except ValueError:
        return ""
    message = body.get("message") if isinstance(body, dict) else None
    return message if isinstance(message, str) else ""


def hold_refused(check: Check[JobsService], answer: ServiceAnswer, names: tuple[str, ...], **facts: Any) -> None:
    """Fail the check unless the answer is a refusal in JSON whose message has one of the names."""
    if not is_refused(answer):
        raise check.fail("a request that is wrong is not refused", got=shown(answer), want="4xx", **facts)
    message = message_of(answer)
    if not message:
        raise check.fail("a refusal has no message", got=shown(answer), want='{"message": "..."}', **facts)
    if names and not any(name in message.lower() for name in names):
        raise check.fail("a refusal does not name what is wrong", got=message, want=f"one of {names}", **facts)
