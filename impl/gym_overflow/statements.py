"""What a server's own sentence states: how long the prompt is, how much output was asked, how big the window is.

Servers word their refusals differently, but each one is a sentence that starts with its subject (the model's limit,
the prompt, the output cap) and gives numbers for it. A sentence is read only from its start: words that come later
may be an echo of the request. Wordings were read from vLLM 0.8 to 0.32, SGLang, TensorRT-LLM, TGI, llama.cpp, LM
Studio and the large hosted services.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from impl.gym_overflow.wordings import FORMS, NUMBERLESS, OUTPUT_CAP, ROOM_LEFT, WRAPPER

if TYPE_CHECKING:
    import re


@dataclass(frozen=True, slots=True)
class Statement:
    """The numbers that one sentence states; None where it does not say.

    Attributes:
        text: The stretch of the message that states them.
        prompt: Prompt length, in tokens (or characters, see `characters`).
        output: Output tokens asked for.
        total: Prompt and output together, in tokens.
        window: The limit that the sentence holds them against.
        limit: The model's own limit in tokens, where `window` is another (the room left, or characters).
        characters: `prompt` and `window` count characters: a check before tokenization.
        at_least: The server stopped counting at `prompt`.
        numberless: The sentence says that the prompt is too long and gives no number.
    """

    text: str = ""
    prompt: int | None = None
    output: int | None = None
    total: int | None = None
    window: int | None = None
    limit: int | None = None
    characters: bool = False
    at_least: bool = False
    numberless: bool = False

    @property
    def prompt_tokens(self) -> int | None:
        """Prompt length in tokens, if the sentence gives it in tokens."""
        return None if self.characters else self.prompt

    @property
    def window_tokens(self) -> int | None:
        """The model's window in tokens."""
        return self.window if self.limit is None else self.limit

    @property
    def prompt_fills_window(self) -> bool:
        """The prompt alone leaves no room for one output token."""
        if self.numberless:
            return True
        return self.prompt is not None and self.window is not None and self.prompt >= self.window >= 0

    @property
    def cap_exceeds_window(self) -> bool:
        """The output asked for alone is more than the window: a client's configuration, not a full context."""
        if self.window is not None and self.window < 0:  # vLLM 0.13 to 0.15 print the window less the output cap
            return True
        return self.output is not None and self.window is not None and self.output > self.window

    @property
    def sum_exceeds_window(self) -> bool:
        """Prompt and output together are more than the window."""
        if self.window is None:
            return False
        total = self.total
        if self.prompt is not None and self.output is not None:
            total = max(total or 0, self.prompt + self.output)
        return total is not None and total > self.window


_LONGEST_SENTENCE = 1200


def bare_sentence(message: str) -> str:
    """Drop the exception names and prefixes that gateways put before a server's own sentence."""
    sentence = message.strip()[:_LONGEST_SENTENCE]
    wrapper = WRAPPER.match(sentence)
    return sentence[wrapper.end() :] if wrapper else sentence


def read_prompt_statement(message: str) -> Statement | None:
    """Read a sentence that holds the prompt against a window; None if the message starts otherwise."""
    sentence = bare_sentence(message)
    for form in FORMS:
        found = form.match(sentence)
        if found:
            return _statement(found)
    if NUMBERLESS.fullmatch(sentence):
        return Statement(text=sentence, numberless=True)
    return None


def read_output_cap_statement(message: str) -> Statement | None:
    """Read a sentence that refuses the output cap alone, as larger than the whole window."""
    found = OUTPUT_CAP.match(bare_sentence(message))
    return _statement(found) if found else None


def read_room_left(message: str) -> int | None:
    """Read the output tokens left in "max_tokens must be at least 1, got N".

    vLLM 0.32 says this both when the prompt fills the window (N is the room it computed) and when the client asked
    for N itself: the sentence alone decides nothing.
    """
    found = ROOM_LEFT.match(bare_sentence(message))
    return int(found["room"]) if found else None


def _statement(found: re.Match[str]) -> Statement:
    groups = found.groupdict()

    def number(name: str) -> int | None:
        text = groups.get(name)
        return None if text is None else int(text.replace(",", ""))

    prompt = number("prompt")
    if prompt is not None:  # TensorRT-LLM counts the prompt in two parts
        prompt += number("more_prompt") or 0
    return Statement(
        text=found[0],
        prompt=prompt,
        output=number("output"),
        total=number("total"),
        window=number("window"),
        limit=number("limit"),
        characters=groups.get("characters") is not None,
        at_least=groups.get("at_least") is not None,
    )
