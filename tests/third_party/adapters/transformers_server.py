"""``transformers serve``, which is a FastAPI server over ``generate``."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import transformers

from contracts.gym_overflow.started import Started

if TYPE_CHECKING:
    from collections.abc import Mapping

CAPABILITIES = frozenset({"streaming", "completions", "responses", "max_completion_tokens"})
_ENDS = b"aeiou"


class TransformersServer(Started):
    """The server over a copy of a model whose answers end at a vowel: without a window, an answer ends nowhere else."""

    def __init__(self, model: Path, folder: Path) -> None:
        copied = shutil.copytree(model, folder / "ends-at-vowels")
        generation = json.loads((copied / "generation_config.json").read_text(encoding="utf-8"))
        generation["eos_token_id"] = [generation["eos_token_id"], *_ENDS]
        (copied / "generation_config.json").write_text(json.dumps(generation), encoding="utf-8")
        self._tokenizer = transformers.AutoTokenizer.from_pretrained(copied)
        command = [str(Path(sys.executable).with_name("transformers")), "serve", str(copied), "--device", "cpu"]
        super().__init__(
            [*command, "--host", "127.0.0.1", "--port", "{port}"],
            env={"HF_HUB_OFFLINE": "1"},
            name=f"transformers serve {transformers.__version__}",
            version=transformers.__version__,
            capabilities=CAPABILITIES,
            model=str(copied),
            window=json.loads((copied / "config.json").read_text(encoding="utf-8"))["max_position_embeddings"],
            # Its /v1/responses streams unless told not to, so that no answer to a plain request states a `usage`.
            count_tokens=self._counted,
        )

    def _counted(self, _path: str, body: Mapping[str, Any]) -> int:
        if "prompt" in body:
            return len(self._tokenizer(body["prompt"]).input_ids)
        messages = body.get("messages") or [{"role": "user", "content": body["input"]}]
        text = self._tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
        return len(self._tokenizer(text).input_ids)
