"""The places that this room's rules come from."""

from contracts.source import Source

CLASSIFIER = Source(
    "NVIDIA-NeMo/Gym responses_api_models/vllm_model/app.py, is_out_of_context_length (0.7.0: lines 988 and 1323)",
    "an upstream answer counts as an overflow only if its status is 400 and its body holds the classifier's words",
)
HANDLER = Source(
    "NVIDIA-NeMo/Gym responses_api_models/vllm_model/app.py, the branch under is_out_of_context_length",
    "an overflow is answered as an empty completion that ends the rollout; everything else is raised and becomes a 500",
)
RETRIES = Source(
    "NVIDIA-NeMo/Gym client, measured on 0.2.0 to 0.7.0",
    "a 400 costs one upstream request, a 500 three, and 429 or 502 to 504 three or no end of them",
)
NEMO_RL = Source(
    "NVIDIA-NeMo/RL vllm_worker_async.py, create_chat_completion and _clamp_max_tokens",
    "overflows that were raised as plain ValueError escaped as 500s, and one message said max_model_len instead",
)
VLLM_FULL_WINDOW = Source(
    "vLLM 0.32.0, measured",
    "a prompt that fills the window and the client bug max_tokens=0 are answered with the same bytes",
)
VLLM_CLAMP = Source(
    "vLLM 0.32.0, measured",
    "prompt + max_tokens over the window is clamped and answered 200; earlier releases answered 400",
)
VLLM_ECHO = Source(
    "vLLM 0.13 to 0.25, measured",
    "validation errors echo the request, so an unrelated fault is classified as soon as the client set max_tokens",
)
VLLM_SPLICE = Source(
    "vLLM 0.25.1 under NeMo-RL, measured",
    "a spliced history over the window was answered by a bare 500 where a plain prompt of that length got a 400",
)
OPENAI_ERRORS = Source(
    "OpenAI API reference, error object",
    "an error is a JSON object `error` with `message`, `type`, `param` and `code`",
)
OPENAI_COMPLETIONS = Source(
    "OpenAI API reference, POST /v1/completions, prompt",
    "a prompt is a text, a list of texts, a list of token ids or a list of those lists",
)
OPENAPI = Source(
    "OpenAPI 3.1, responses object",
    "a served document states every status and schema that a client must be ready for",
)
