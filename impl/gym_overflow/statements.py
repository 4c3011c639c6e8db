"""What a server's own sentence states: how long the prompt is, how much output was asked, how big the window is.

Servers word their refusals differently, but each one is a sentence that starts with its subject (the model's limit,
the prompt, the output cap) and gives numbers for it. A sentence is read only from its start: words that come later
may be an echo of the request. Wordings were read from vLLM 0.8 to 0.32, SGLang, TensorRT-LLM, TGI, llama.cpp, LM
Studio and the large hosted services.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_N = r"\(?(?P<{0}>-?\d[\d,]*)(?:\.0+)?\)?"


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


def _form(pattern: str) -> re.Pattern[str]:
    """Compile one wording; `<name>` stands for a number and `~` for a short stretch without one."""
    pattern = re.sub(r"(?<!\?P)<(\w+)>", lambda found: _N.format(found[1]), pattern)
    return re.compile(pattern.replace("~", r"[^\d{}\[\]]{0,160}?"), re.IGNORECASE)


_LIMIT = (
    r"(?:this|the) (?:model|endpoint)(?:'s)? (?:maximum |max |supported )?"
    r"(?:context|prompt|input|sequence|model) (?:length|window|size|limit)"
)
_PROMPT = (
    r"(?:(?:the|your|this|input|engine|decoder|final|total|tokenized|VLM|text) ){0,4}"
    r"(?:prompt|input|inputs|request|messages?|conversation)(?: text)?"
    r"(?: token count| tokens| length| size|_len)?"
)
_WINDOW = (
    r"(?:max_model_len|max_total_tokens|max_seq_len|max_num_tokens|max_length|n_ctx|context_window|"
    r"(?:maximum |max |allowed |available |configured |model(?:'s)? |supported )*"
    r"(?:context|prompt|input|sequence|model|allowed)? ?"
    r"(?:length|window|size|limit|tokens|number of tokens allowed)|maximum|limit)"
)
_EXCEEDS = (
    r"(?:exceeds?|exceeded|exceeding|exhausted|is longer than|is too (?:long|large)|is greater than|longer than|"
    r"too large for|is over|is more than|should not exceed|>=?|surpasses)"
)

_FORMS = tuple(
    _form(pattern)
    for pattern in (
        # The characters of the prompt are held against the most characters that the room left can have.
        _LIMIT + r"~<limit>~(?:you requested <output> output tokens and )?your prompt contains <prompt>"
        r" characters \(more than <window> characters(?P<characters>)",
        _LIMIT + r"~<window>~you requested <output> output tokens and ~prompt contains(?P<at_least> at least)?"
        r" <prompt> input tokens",
        _LIMIT + r"~<window>~requested(?: about)? <total> tokens \(<prompt> (?:in|of|from)[^;,\d]*[;,]~<output>",
        _LIMIT + r"~<window>~you requested <prompt> tokens in the messages",
        _LIMIT + r"~<window>~(?:prompt|request|messages?|input)~(?:contains?|has|have|is|resulted in)"
        r"(?P<at_least> at least)?(?: about)? <prompt> (?:input )?tokens",
        r"you passed(?P<at_least> at least)? <prompt> (?:input )?tokens(?: and requested <output> output tokens)?~"
        + _LIMIT
        + r"~<window> tokens",
        r"you passed(?: at least)? <prompt> input characters(?: and requested <output> output tokens)?~"
        + _LIMIT
        + r"~<limit> tokens~maximum input length of <room> tokens \(at most <window> characters(?P<characters>)",
        r"requested token count exceeds~<window> tokens~total of <total> tokens: <prompt> tokens~<output>",
        r"'?max_(?:completion_|output_)?tokens'?(?: or 'max_completion_tokens')? is too large: <output>\. "
        + _LIMIT
        + r"~<window>~has <prompt> input tokens",
        r"the sum of prompt length <prompt>~length <more_prompt>~(?:max_tokens <output>~)?should not exceed~<window>",
        r"`default_max_tokens` <left> must be greater than 0~<left2> = max_seq_len <window>~<prompt>~<more_prompt>",
        r"`inputs` tokens \+ `max_new_tokens` must be <= <window>\. Given: <prompt> `inputs` tokens and <output>",
        r"`inputs` must have less than <window> tokens\. Given: <prompt>",
        r"input length and `max_tokens` exceed context limit: <prompt> \+ <output> > <window>",
        r"the number of tokens to keep from the initial prompt ~\(n_keep: <prompt> ?>= ?n_ctx: <window>\)",
        r"(?:cannot truncate prompt|trying to keep)~<prompt>\W~(?:n_ctx|context length of only) <window>",
        r"please reduce the length of the messages~current length is <prompt> while limit is <window>",
        _PROMPT + r"~exceeds? the configured limit of <window> tokens\. Your messages resulted in <prompt> tokens",
        _PROMPT + r"~exceeded model token limit: <window> \(requested: <prompt>\)",
        # Only tokens, and nothing between number and verb: a limit on bytes, images or messages is another fault.
        r"(?!\w* ?(?:messages?|request|conversation|inputs) \d)(?:context length exceeded: |prompt_too_long: )?"
        + _PROMPT
        + r"(?: \(length| length| of| is| has| contains|"
        r" is too long:?)?(?P<at_least> at least)? <prompt>(?: (?:input )?tokens?\b)?\)?"
        r"(?: plus the number of requested output tokens \((?:at least )?<output>\))?,? (?:which |that |but )?"
        r"(?:" + _EXCEEDS + r"|max prompt|the model)~" + _WINDOW + r"?\W*(?:is |of |= ?|: ?|only |with )*<window>",
    )
)

_THE_CONTEXT = r"(?:the )?(?:maximum |max |available |model's )*context (?:length|size|window)"
_NUMBERLESS = re.compile(
    r"(?:(?:the )?prompt is too long|tokens in request more than max tokens allowed|"
    r"(?:the )?(?:prompt|input|request)(?: length| size| tokens)? (?:exceeds?|exceeded|is longer than) "
    + _THE_CONTEXT
    + r"|(?:the )?context (?:length|size|window) (?:exceeds limit|(?:has been |is |was )?exceeded)(?: for given call)?)"
    r"(?: \(\d+\))?(?:\.? (?:no models have|try increasing the context)[^{}'\"]*)?\.?",
    re.IGNORECASE,
)

_OUTPUT_CAP = _form(
    r"'?max_(?:completion_|output_)?tokens'?\s*(?:=|\()\s*<output> ?cannot be greater than "
    r"(?:max_model_len(?:=max_total_tokens)?=|the model's maximum context length )<window>"
)
_ROOM_LEFT = _form(r"max_(?:completion_|output_)?tokens must be at least 1, got <room>")

_WRAPPER = re.compile(
    r"(?:<\d{3}> |(?:input validation error|cannot process new request|invalid request|invalid params|"
    r"error from provider ?\([^)]*\))[:,] *|[\w.]*(?:Error|Exception)\b(?:\([^)]*\))?[\s:-]+)+",
    re.IGNORECASE,
)
_LONGEST_SENTENCE = 1200


def bare_sentence(message: str) -> str:
    """Drop the exception names and prefixes that gateways put before a server's own sentence."""
    sentence = message.strip()[:_LONGEST_SENTENCE]
    wrapper = _WRAPPER.match(sentence)
    return sentence[wrapper.end() :] if wrapper else sentence


def read_prompt_statement(message: str) -> Statement | None:
    """Read a sentence that holds the prompt against a window; None if the message starts otherwise."""
    sentence = bare_sentence(message)
    for form in _FORMS:
        found = form.match(sentence)
        if found:
            return _statement(found)
    if _NUMBERLESS.fullmatch(sentence):
        return Statement(text=sentence, numberless=True)
    return None


def read_output_cap_statement(message: str) -> Statement | None:
    """Read a sentence that refuses the output cap alone, as larger than the whole window."""
    found = _OUTPUT_CAP.match(bare_sentence(message))
    return _statement(found) if found else None


def read_room_left(message: str) -> int | None:
    """Read the output tokens left in "max_tokens must be at least 1, got N".

    vLLM 0.32 says this both when the prompt fills the window (N is the room it computed) and when the client asked
    for N itself: the sentence alone decides nothing.
    """
    found = _ROOM_LEFT.match(bare_sentence(message))
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
