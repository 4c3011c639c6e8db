"""What tests of several rooms need: a tiny language model for other people's servers, and a headless browser.

The modules of ``programs`` are importable for every test.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from chromium import Chromium

    NotHere = Callable[[str, str], NoReturn]

sys.path.insert(0, str(Path(__file__).parent / "programs"))

WINDOW = 128
_HIDDEN = 128
_SPECIAL = ("bos", "eos", "pad")
_TEMPLATE = (
    "{% if tools %}{{ tools | tojson }}\n{% endif %}"
    "{% for message in messages %}{{ message['role'] }}: {{ message['content'] or '' }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)


@pytest.fixture(scope="session")
def not_here(required: set[str]) -> NotHere:
    """Called as ``not_here(what, reason)``: skips a test, or fails it where ``CONTRACTS_REQUIRE`` names ``what``."""

    def refuse(what: str, reason: str) -> NoReturn:
        if what in required:
            pytest.fail(f"{reason} (CONTRACTS_REQUIRE asks for {what})")
        pytest.skip(reason)

    return refuse


@pytest.fixture(scope="session")
def chromium(not_here: NotHere) -> Iterator[Chromium]:
    """The headless Chromium of this session."""
    if importlib.util.find_spec("selenium") is None:
        not_here("browser", "selenium is missing: install the dependency group test")
    from chromium import MISSING, Chromium, programs  # noqa: PLC0415 - importable since this file ran

    if not programs():
        not_here("browser", MISSING)
    with Chromium() as running:
        yield running


@pytest.fixture
def browser(chromium: Chromium) -> Chromium:
    """A headless Chromium that shows nothing and has said nothing yet."""
    chromium.forget()
    return chromium


@pytest.fixture(scope="session")
def tiny_llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a Llama of one layer with random weights, whose tokens are the bytes of a text.

    Its window is 128 tokens. It answers in printable ASCII and never ends by itself.
    """
    folder = tmp_path_factory.mktemp("model") / "tiny-llama"
    folder.mkdir()
    vocabulary = _vocabulary()
    _write(folder / "tokenizer.json", _tokenizer(vocabulary))
    _write(
        folder / "tokenizer_config.json",
        {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": WINDOW,
            "chat_template": _TEMPLATE,
            **{f"{name}_token": f"<{name}>" for name in _SPECIAL},
        },
    )
    ids = {f"{name}_token_id": vocabulary[f"<{name}>"] for name in _SPECIAL}
    _write(
        folder / "config.json",
        {
            "architectures": ["LlamaForCausalLM"],
            "model_type": "llama",
            "dtype": "float32",
            "hidden_act": "silu",
            "hidden_size": _HIDDEN,
            "intermediate_size": _HIDDEN,
            "max_position_embeddings": WINDOW,
            "num_attention_heads": 2,
            "num_hidden_layers": 1,
            "num_key_value_heads": 2,
            "rms_norm_eps": 1e-5,
            "rope_theta": 10000.0,
            "tie_word_embeddings": False,
            "vocab_size": len(vocabulary),
            **ids,
        },
    )
    _write(folder / "generation_config.json", ids)
    _write_weights(folder / "model.safetensors", len(vocabulary))
    return folder


def _write(path: Path, document: dict[str, Any]) -> None:
    path.write_text(json.dumps(document), encoding="utf-8")


def _vocabulary() -> dict[str, int]:
    """One token a byte, under the letter that byte-level tokenizers write it as; then one of two bytes; specials."""
    printable = {*range(33, 127), *range(161, 173), *range(174, 256)}
    others = iter(range(256, 512))
    letters = [chr(byte) if byte in printable else chr(next(others)) for byte in range(256)]
    return {token: number for number, token in enumerate([*letters, "th", *(f"<{name}>" for name in _SPECIAL)])}


def _tokenizer(vocabulary: dict[str, int]) -> dict[str, Any]:
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}
    return {
        "version": "1.0",
        "added_tokens": [{"id": vocabulary[f"<{name}>"], "content": f"<{name}>", **flags} for name in _SPECIAL],
        "normalizer": None,
        "pre_tokenizer": byte_level,
        "post_processor": None,
        "decoder": byte_level,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "vocab": {word: number for word, number in vocabulary.items() if number < len(vocabulary) - len(_SPECIAL)},
            "merges": ["t h"],
        },
    }


def _write_weights(path: Path, vocabulary: int) -> None:
    np = pytest.importorskip("numpy")
    save = pytest.importorskip("safetensors.numpy").save_file
    random = np.random.default_rng(0)

    def normal(*shape: int) -> Any:
        return random.normal(0, 0.2, shape).astype(np.float32)

    layer = "model.layers.0."
    square = ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj")
    weights = {f"{layer}{name}.weight": normal(_HIDDEN, _HIDDEN) for name in square}
    weights |= {f"{layer}mlp.{name}_proj.weight": normal(_HIDDEN, _HIDDEN) for name in ("gate", "up", "down")}
    norms = (f"{layer}input_layernorm", f"{layer}post_attention_layernorm", "model.norm")
    weights |= {f"{name}.weight": np.ones(_HIDDEN, np.float32) for name in norms}
    weights["model.embed_tokens.weight"] = normal(vocabulary, _HIDDEN)
    # Every other token has the logit 0 and is never the largest of those with a wide spread.
    head = np.zeros((vocabulary, _HIDDEN), np.float32)
    head[32:127] = 10 * normal(95, _HIDDEN)
    weights["lm_head.weight"] = head
    save(weights, path, metadata={"format": "pt"})
