"""Requests that a Jobs service must refuse, one mistake each, and what the refusal has to name."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from contracts.metrics_wire.service_task import JSON

if TYPE_CHECKING:
    from collections.abc import Mapping

STATUSES = frozenset(
    "created pending active cancelled cancelling error completed paused pausing resuming".split()  # noqa: SIM905 - as the service lists them
)

_DEEP = 20_000
_LONG_NAME = "x" * 10_000
#: What names a body that cannot be read at all.
_BODY = ("body", "json", "content")


@dataclass(frozen=True, slots=True)
class BadRequest:
    """A request with one mistake.

    Attributes:
        body: Its body.
        names: Words of which the message has to have one: the field that is wrong.
        headers: Its headers.
    """

    body: bytes
    names: tuple[str, ...]
    headers: Mapping[str, str] = field(default_factory=lambda: JSON)


def _text(text: str, *names: str) -> BadRequest:
    return BadRequest(text.encode(), names)


def _details(inner: str, *names: str) -> BadRequest:
    return _text(f'{{"status": "error", "status_details": {{"wobble": {inner}}}}}', *names, "wobble", "status_details")


def _point(name: str, **changes: str | None) -> str:
    fields = {"step": "1", "epoch": "1", "value": "0.5"} | changes
    inner = ", ".join(f'"{key}": {value}' for key, value in fields.items() if value is not None)
    return f"{{{json.dumps(name)}: [{{{inner}}}]}}"


#: What is wrong with the series of an update or an append: their JSON, and what the message must name.
_SERIES: dict[str, tuple[str, tuple[str, ...]]] = {
    "value is NaN": (_point("train_reward", value="NaN"), ("value", *_BODY)),
    "value is Infinity": (_point("train_reward", value="-Infinity"), ("value", *_BODY)),
    "value is beyond a float": (_point("train_reward", value="1e999"), ("value", *_BODY)),
    "value is a huge integer": (_point("train_reward", value=f"1{'0' * 400}"), ("value", *_BODY)),
    "value is null": (_point("train_reward", value="null"), ("value",)),
    "value is text": (_point("train_reward", value='"0.5"'), ("value",)),
    "value is a boolean": (_point("train_reward", value="true"), ("value",)),
    "value is a list": (_point("train_reward", value="[0.5]"), ("value",)),
    "value is missing": (_point("train_reward", value=None), ("value",)),
    "step is negative": (_point("train_reward", step="-1"), ("step",)),
    "step is a fraction": (_point("train_reward", step="1.5"), ("step",)),
    "step is text": (_point("train_reward", step='"1"'), ("step",)),
    "step is a boolean": (_point("train_reward", step="true"), ("step",)),
    "step is null": (_point("train_reward", step="null"), ("step",)),
    "step is huge": (_point("train_reward", step=f"1{'0' * 40}"), ("step",)),
    "step is missing": (_point("train_reward", step=None), ("step",)),
    "epoch is 0": (_point("train_reward", epoch="0"), ("epoch",)),
    "epoch is text": (_point("train_reward", epoch='"1"'), ("epoch",)),
    "epoch is missing": (_point("train_reward", epoch=None), ("epoch",)),
    "a point has an unknown field": (_point("train_reward", wall_time="1"), ("wall_time",)),
    "a point is a number": ('{"train_reward": [1]}', ("train_reward",)),
    "a point is null": ('{"train_reward": [null]}', ("train_reward",)),
    "a series is an object": ('{"train_reward": {"1": 0.5}}', ("train_reward",)),
    "a series is null": ('{"train_reward": null}', ("train_reward",)),
    "a series has no name": (_point(""), ("metrics", "name")),
    "a series has a name without end": (_point(_LONG_NAME), ("metrics", "name")),
    "metrics are a list": ("[]", ("metrics",)),
    "metrics are null": ("null", ("metrics",)),
}

#: Bodies that are no JSON object at all.
_UNREADABLE: dict[str, BadRequest] = {
    "empty": _text("", *_BODY),
    "cut": _text('{"status": "error"', *_BODY),
    "a trailing comma": _text('{"status": "error",}', *_BODY),
    "two documents": _text('{"status": "error"} {}', *_BODY),
    "not UTF-8": BadRequest(b'{"status": "error", "error_stack": "\xff\xfe"}', _BODY),
    "a list": _text('[{"status": "error"}]', *_BODY),
    "text": _text('"error"', *_BODY),
    "null": _text("null", *_BODY),
    "a form": BadRequest(b"status=error", _BODY, {"content-type": "application/x-www-form-urlencoded"}),
    "nested without end": _text(f'{{"status": "error", "a": {"[" * _DEEP}{"]" * _DEEP}}}', *_BODY, "a"),
    "nested and cut": _text("[" * _DEEP, *_BODY),
    "compressed": BadRequest(b"\x1f\x8b\x08\x00\x00", _BODY, JSON | {"content-encoding": "gzip"}),
}

BAD_UPDATES: dict[str, BadRequest] = {
    "details have NaN": _details("NaN", *_BODY),
    "details have Infinity": _details('{"b": [Infinity]}', *_BODY),
    "details have a number beyond a float": _details("1e999", *_BODY),
    "an unknown field": _text('{"status": "error", "state": "active"}', "state"),
    "an unknown status": _text('{"status": "done", "error_stack": "s"}', "status"),
    "status in capitals": _text('{"status": "ERROR", "error_stack": "s"}', "status"),
    "status is null": _text('{"status": null, "error_stack": "s"}', "status"),
    "status is a number": _text('{"status": 1, "error_stack": "s"}', "status"),
    "status is a list": _text('{"status": ["error"], "error_stack": "s"}', "status"),
    "details are a list": _text('{"status": "error", "status_details": []}', "status_details"),
    "details are text": _text('{"status": "error", "status_details": "{}"}', "status_details"),
    "details are null": _text('{"status": "error", "status_details": null}', "status_details"),
    "error_stack is a number": _text('{"status": "error", "error_stack": 1}', "error_stack"),
    "error_details are text": _text('{"status": "error", "error_details": "failed"}', "error_details"),
    "details nest without end": _details("[" * _DEEP + "]" * _DEEP, *_BODY),
    **{
        kind: _text(f'{{"status": "error", "status_details": {{"metrics": {text}}}}}', *names)
        for kind, (text, names) in _SERIES.items()
    },
    **{f"the body is {kind}": bad for kind, bad in _UNREADABLE.items()},
}

BAD_APPENDS: dict[str, BadRequest] = {
    "metrics are missing": _text("{}", "metrics"),
    "an unknown field": _text('{"metrics": {}, "status": "error"}', "status"),
    "one of two series is bad": _text(
        '{"metrics": {"train_loss": [{"step": 9, "epoch": 1, "value": 9}], "b": [{"step": 1, "epoch": 1}]}}', "value"
    ),
    "one of two points is bad": _text(
        '{"metrics": {"train_loss": [{"step": 9, "epoch": 1, "value": 9}, {"step": -1, "epoch": 1, "value": 9}]}}',
        "step",
    ),
    **{kind: _text(f'{{"metrics": {text}}}', *names) for kind, (text, names) in _SERIES.items()},
    **{f"the body is {kind}": bad for kind, bad in _UNREADABLE.items()},
}

#: Ids that are none, quoted as they are sent; a path may have them in any of its four places.
BAD_IDS = {
    "empty": "",
    "NUL": "a%00b",
    "line feed": "a%0Ab",
    "not UTF-8": "%FF%FE",
    "without end": "x" * 5000,
    "two dots": "%2E%2E",
}
