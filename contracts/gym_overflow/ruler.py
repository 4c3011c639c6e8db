"""How long a prompt is on an endpoint, and how to hit an exact length.

The facts are measured once per endpoint, beneath any mutant: a defect in the answers must not bend the ruler.
"""

from __future__ import annotations

import json
import weakref
from typing import TYPE_CHECKING, Any

from contracts.beneath import PerAdapter
from contracts.gym_overflow.judging import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from contracts.answer import Answer
    from contracts.gym_overflow.protocols import Endpoint

_TOKENIZE = "/tokenize"
_FILLERS = ("a", " a", " the")
#: Two numbers of fillers whose counts are compared; the short ones are for small windows.
_SPANS = ((8, 16), (2, 4), (1, 2))
_ATTEMPTS = 6
_NOT_COUNTED = {"stream", "stream_options", "n", "logprobs", "top_logprobs", "max_completion_tokens"}


class PromptError(RuntimeError):
    """A fact about the endpoint's prompts that is needed and cannot be had."""


class NoRoomError(PromptError):
    """The window is too small for the fixed part of a prompt."""


def model_of(endpoint: Endpoint) -> str:
    """Model name for requests: the adapter's own, else the first that ``/v1/models`` lists."""
    if endpoint.model is not None:
        return endpoint.model
    return str(Ruler.of(endpoint).card["id"])


def window_of(endpoint: Endpoint) -> int:
    """Context window in tokens: the adapter's own, else the ``max_model_len`` that ``/v1/models`` states.

    Raises:
        PromptError: If neither says it.
    """
    if endpoint.window is not None:
        return endpoint.window
    stated = Ruler.of(endpoint).card.get("max_model_len")
    if not isinstance(stated, int):
        raise PromptError(
            f"the context window of {endpoint.name} is not known: /v1/models states no max_model_len; give window="
        )
    return stated


class Ruler:
    """Counts tokens of final prompts on one endpoint."""

    def __init__(self, endpoint: Endpoint) -> None:
        # A weak reference, since the ruler is to be dropped with the endpoint.
        self._endpoint: Endpoint = weakref.proxy(endpoint)
        self._lines: dict[str, tuple[str, int]] = {}
        self._fillers: dict[str, tuple[str, ...]] = {}
        self._refusal = "no answer states them"
        self._card: Mapping[str, Any] | None = None

    @staticmethod
    def of(endpoint: Any) -> Ruler:
        """The ruler of the endpoint beneath any wrapper."""
        return _rulers.of(endpoint)

    @property
    def card(self) -> Mapping[str, Any]:
        """The first entry of ``/v1/models``.

        Raises:
            PromptError: If there is none.
        """
        if self._card is None:
            answer = self._endpoint.request("GET", "/v1/models")
            listed = _json(answer)
            try:
                self._card = dict(listed["data"][0])
                self._card["id"]
            except (KeyError, IndexError, TypeError) as error:
                raise PromptError(
                    f"{self._endpoint.name}: GET /v1/models lists no model; give model= and window= "
                    f"(it was answered {shown(answer, 200)})"
                ) from error
        return self._card

    def count(self, path: str, body: Mapping[str, Any]) -> int | None:
        """Tokens of the final prompt for ``body``; ``None`` where the endpoint cannot say because it refuses it.

        Raises:
            PromptError: If the endpoint says nothing usable.
        """
        if callable(self._endpoint.count_tokens):
            return int(self._endpoint.count_tokens(path, body))
        if "tokenize" in self._endpoint.capabilities:
            return self._counted_by_tokenize(body)
        return self._counted_by_usage(path, body)

    def fitted(self, path: str, build: Callable[[str], dict[str, Any]], target: int) -> dict[str, Any]:
        """The body ``build(text)`` whose final prompt has exactly ``target`` tokens.

        Args:
            path: The route that the body is for.
            build: Puts a text of any length into a body.
            target: Number of tokens.

        Raises:
            PromptError: If that length cannot be hit, or the prompt is longer than that without any text.
        """
        filler, overhead = self._line(path, build)
        repeats = target - overhead
        for _ in range(_ATTEMPTS):
            if repeats < 1:
                raise NoRoomError(
                    f"{self._endpoint.name}: a prompt of {target} tokens leaves no room for any text: the template "
                    f"alone takes {overhead}; use a larger window"
                )
            body = build(filler * repeats)
            count = self.count(path, body)
            if count is None or count == target:
                return body
            repeats += target - count
        raise PromptError(f"{self._endpoint.name}: no prompt of exactly {target} tokens could be built on {path}")

    def _line(self, path: str, build: Callable[[str], dict[str, Any]]) -> tuple[str, int]:
        """A filler that is one token each time it is repeated, and the tokens of the prompt without it."""
        shape = path + json.dumps(build(""), sort_keys=True)
        if shape not in self._lines:
            self._lines[shape] = self._measured(path, build)
        return self._lines[shape]

    def _measured(self, path: str, build: Callable[[str], dict[str, Any]]) -> tuple[str, int]:
        fillers = self._fillers.get(path, _FILLERS)
        counts: list[int | None] = []
        for short, long in _SPANS:
            for filler in fillers:
                counts = [self.count(path, build(filler * repeats)) for repeats in (short, long)]
                first, second = counts
                if first is not None and second is not None and second - first == long - short:
                    self._fillers[path] = (filler,)
                    return filler, first - short
        if None in counts:
            raise NoRoomError(
                f"{self._endpoint.name}: on {path} not even a prompt of one or two words is answered with its tokens "
                f"in `usage`: {self._refusal}; use a larger window, or give count_tokens="
            )
        raise PromptError(
            f"{self._endpoint.name}: {' or '.join(map(repr, fillers))} is not one token each on {path}; "
            f"give count_tokens="
        )

    def _counted_by_tokenize(self, body: Mapping[str, Any]) -> int:
        asked = {key: body[key] for key in ("model", "prompt", "messages", "tools") if key in body}
        if "input" in body:
            asked["messages"] = [{"role": "user", "content": body["input"]}]
        answer = self._endpoint.request("POST", _TOKENIZE, json=asked)
        document = _json(answer)
        count = document.get("count") if isinstance(document, dict) else None
        if not isinstance(count, int):
            raise PromptError(
                f"{self._endpoint.name}: POST {_TOKENIZE} gives no count; it was answered {shown(answer, 200)}"
            )
        return count

    def _counted_by_usage(self, path: str, body: Mapping[str, Any]) -> int | None:
        plain = {key: value for key, value in body.items() if key not in _NOT_COUNTED}
        plain["max_output_tokens" if path.endswith("/responses") else "max_tokens"] = 1
        answer = self._endpoint.request("POST", path, json=plain)
        document = _json(answer)
        usage = document.get("usage") if isinstance(document, dict) else None
        if not isinstance(usage, dict):
            self._refusal = f"it is answered {shown(answer, 200)}"
            return None
        count = usage.get("prompt_tokens", usage.get("input_tokens"))
        return count if isinstance(count, int) else None


_rulers = PerAdapter(Ruler)


def _json(answer: Answer) -> Any:
    try:
        return json.loads(answer.body)
    except ValueError:
        return None
