"""How servers word the refusal of a prompt or of an output cap: one pattern a wording, with its numbers named.

Every pattern is matched from the start of a sentence, since words that come later may be an echo of the request.
"""

from __future__ import annotations

import re

_N = r"\(?(?P<{0}>-?\d[\d,]*)(?:\.0+)?\)?"


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
_TEXT = r"(?:(?:the|your|this) )?(?:input |text |final )?(?:prompt|input)(?: text)?"
_EXCEEDS = (
    r"(?:exceeds?|exceeded|exceeding|exhausted|is longer than|is too (?:long|large)|is greater than|longer than|"
    r"too large for|is over|is more than|should not exceed|>=?|surpasses)"
)

FORMS = tuple(
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
        r"(?:the )?prompt \(total length <prompt>\) is too long to fit into the model \(context length <window>\)",
        (
            r"token indices sequence length is longer than the specified maximum sequence length for this model"
            r" \(<prompt> > <window>\)"
        ),
        r"requested tokens <prompt> exceed context window of <window>",
        _TEXT
        + r" exceeds? (?:the )?max_model_len: prompt_len(?:gth)?\s*[=:]\s*<prompt>,? max_model_len\s*[=:]\s*<window>",
        r"prompt_len(?:gth)?\s*[=:]\s*<prompt>,? (?:which )?"
        + _EXCEEDS
        + r" (?:the )?max_model_len\s*[=:]?\s*<window>",
        _TEXT + r" of length <prompt>,? (?:which )?" + _EXCEEDS + r"~" + _WINDOW + r"\W*(?:is |of )?<window>",
        _TEXT
        + r" (?:has|contains|is) <prompt> (?:input )?tokens,? (?:but|while)~"
        + _WINDOW
        + r" (?:is|of|allows) <window>",
        r"(?:the )?(?:number of )?(?:input|prompt) tokens <prompt> must (?:not exceed|be (?:less than|at most))~"
        + _WINDOW
        + r"\W*<window>",
        _TEXT + r" is too long:? <prompt> tokens,? (?:the )?(?:maximum|max|limit)(?: is| of)? <window>",
        _TEXT
        + r" "
        + _EXCEEDS
        + r" (?:the |this )?(?:model's )?context (?:window|length) \(<prompt> (?:vs\.?|of|>) <window>",
        (
            r"(?:maximum |max )?context (?:length|window|size) (?:is |was |has been )?exceeded~maximum~<window> tokens~"
            r"prompt~<prompt> tokens"
        ),
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
NUMBERLESS = re.compile(
    r"(?:(?:the )?prompt is too long|input is too long for (?:the )?requested model|"
    r"(?:your|the) (?:input|prompt) exceeds the context window of this model|"
    r"tokens in request more than max tokens allowed|"
    r"(?:the )?(?:prompt|input|request)(?: length| size| tokens)? (?:exceeds?|exceeded|is longer than) "
    + _THE_CONTEXT
    + r"|(?:the )?context (?:length|size|window) (?:exceeds limit|(?:has been |is |was )?exceeded)(?: for given call)?)"
    r"(?: \(\d+\))?(?:\.? (?:no models have|please adjust your|try increasing the context)[^{}'\"]*)?\.?",
    re.IGNORECASE,
)

OUTPUT_CAP = _form(
    r"'?max_(?:completion_|output_)?tokens'?\s*(?:=|\()\s*<output> ?cannot be greater than "
    r"(?:max_model_len(?:=max_total_tokens)?=|the model's maximum context length )<window>"
)
ROOM_LEFT = _form(r"max_(?:completion_|output_)?tokens must be at least 1, got <room>")

WRAPPER = re.compile(
    r"(?:<\d{3}> |(?:input validation error|cannot process new request|invalid request|invalid params|"
    r"error from provider ?\([^)]*\))[:,] *|[\w.]*(?:Error|Exception)\b(?:\([^)]*\))?[\s:-]+)+",
    re.IGNORECASE,
)
