"""The two contracts of this room."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contracts.contract import Contract

if TYPE_CHECKING:
    from contracts.gym_overflow.protocols import ClassifierSource, Endpoint

#: What an endpoint may declare. A name that is not declared must be refused as its entry says.
ENDPOINT_CAPABILITIES = {
    "streaming": "`stream: true` is answered by server-sent events. Not declared: it is refused with a 4xx.",
    "completions": "`/v1/completions` is served, for one text. Not declared: it is answered 404, 405 or 501.",
    "token_prompts": (
        "`/v1/completions` takes token ids and several prompts too. Not declared: token ids are refused with a 4xx."
    ),
    "responses": "`/v1/responses` is served. Not declared: it is answered 404, 405 or 501.",
    "tokenize": "`/tokenize` counts the final prompt of a chat or completions body. Not declared: 404, 405 or 501.",
    "tools": "`tools` are accepted and counted in the prompt. Not declared: they are refused with a 4xx.",
    "logprobs": "`logprobs` are returned. Not declared: they are refused with a 4xx.",
    "n": "`n` completions are returned. Not declared: `n` > 1 is refused with a 4xx.",
    "max_completion_tokens": "`max_completion_tokens` caps the output. Not declared: it is refused with a 4xx.",
    "splice": (
        "With `return_token_ids` an answer carries the ids of its prompt and of what was generated, and a message of "
        "the history that carries them as `prompt_token_ids` and `generation_token_ids` is spliced in verbatim. "
        "Not declared: such ids are refused, or change nothing."
    ),
    "openapi": "`/openapi.json` describes the server exactly. Not declared: it is answered 404, 405 or 501.",
    "internal_fault": (
        "The adapter's `internal_fault(message, method, path, json)` makes the server raise `ValueError(message)` "
        "while it serves a request. Not declared: the adapter has no such method."
    ),
}

#: What a Gym source may declare.
CLASSIFIER_CAPABILITIES = {
    "pinned": "The file is, byte for byte, that of a pinned release. Not declared: its sites are where they are found.",
    "two_backends": "The source decides in a chat and in a completions backend. Not declared: in one place.",
    "ends_with_stop": 'The source ends an overflowed rollout as "stop", as up to 0.2.x. Not declared: as "length".',
}

endpoint: Contract[Endpoint] = Contract(
    "gym_overflow.endpoint",
    version="1.0",
    summary="A chat endpoint that hits its context window, against the classifiers of the selected NeMo Gym releases",
    reference="impl.gym_overflow.adapter:endpoint",
    capabilities=ENDPOINT_CAPABILITIES,
)

classifier: Contract[ClassifierSource] = Contract(
    "gym_overflow.classifier",
    version="1.0",
    summary="A NeMo Gym source's out-of-context classifier and what follows it, against what endpoints really answer",
    reference="contracts.gym_overflow.classifier_source:selected_sources",
    capabilities=CLASSIFIER_CAPABILITIES,
)
