"""Which strategy the switch means, on every kind of vLLM that there has been."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from impl.numerics.config import VLLM_FP32_LM_HEAD
from impl.numerics.vllm.installed import LOGITS_PROCESSOR, NEMOTRON_H, VllmNotFoundError, VllmSource, read_vllm
from impl.numerics.vllm.source_patch import ANCHOR
from impl.numerics.vllm.switch import (
    STRATEGY,
    SWITCH,
    HeadStrategy,
    HeadSwitchError,
    choose_strategy,
    environment_for,
    possible_strategies,
    read_switch,
)

if TYPE_CHECKING:
    from pathlib import Path

MODEL = f"class NemotronHForCausalLM:\n    def compute_logits(self, hidden_states):\n{ANCHOR})\n        return logits\n"


def a_vllm(folder: Path, processor: str, model: str = MODEL) -> VllmSource:
    """A folder with the two files that decide, and what is read from it."""
    for name, text in ((LOGITS_PROCESSOR, processor), (NEMOTRON_H, model)):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return read_vllm(folder, "0.99.1")


NEWER = "self.head_dtype = None\n    def _apply_head(self): ..."
OLDER = "def _get_logits(self): ..."


def test_the_switch_is_that_of_the_configuration() -> None:
    assert SWITCH == VLLM_FP32_LM_HEAD


@pytest.mark.parametrize(
    ("environ", "read"),
    [
        ({}, (False, None)),
        ({SWITCH: ""}, (False, None)),
        ({SWITCH: "0", STRATEGY: "cached"}, (False, HeadStrategy.CACHED)),
        ({SWITCH: "1"}, (True, None)),
        ({SWITCH: "1", STRATEGY: "native"}, (True, HeadStrategy.NATIVE)),
    ],
)
def test_the_switch_is_read(environ: dict[str, str], read: object) -> None:
    assert read_switch(environ) == read


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({SWITCH: "true"}, r'NRL_VLLM_FP32_LM_HEAD is \'true\': set it to "1"'),
        ({STRATEGY: "fast"}, "one of native, per"),
    ],
)
def test_what_cannot_be_read_is_an_error(environ: dict[str, str], words: str) -> None:
    with pytest.raises(HeadSwitchError, match=words):
        read_switch(environ)


@pytest.mark.parametrize("strategy", [None, *HeadStrategy])
def test_the_environment_says_what_was_chosen(strategy: HeadStrategy | None) -> None:
    assert read_switch(environment_for(strategy)) == (strategy is not None, strategy)


def test_a_native_head_is_preferred_and_leaves_no_room_for_the_patch(tmp_path: Path) -> None:
    source = a_vllm(tmp_path, NEWER)
    assert possible_strategies(source) == [HeadStrategy.NATIVE, HeadStrategy.CACHED, HeadStrategy.PER_CALL]
    assert choose_strategy(None, source) is HeadStrategy.NATIVE
    assert choose_strategy(HeadStrategy.CACHED, source) is HeadStrategy.CACHED
    with pytest.raises(HeadSwitchError, match=r"source_patch cannot work on vLLM 0\.99\.1 .*no file of it needs to be"):
        choose_strategy(HeadStrategy.SOURCE_PATCH, source)


def test_an_older_vllm_gets_the_patch_and_nothing_else(tmp_path: Path) -> None:
    source = a_vllm(tmp_path, OLDER)
    assert choose_strategy(None, source) is HeadStrategy.SOURCE_PATCH
    for wanted, words in (("native", "no head_dtype"), ("cached", "no LogitsProcessor._apply_head")):
        with pytest.raises(
            HeadSwitchError, match=rf"0\.99\.1 \({tmp_path}\): it has {words}.*set {STRATEGY} to source"
        ):
            choose_strategy(HeadStrategy(wanted), source)


@pytest.mark.parametrize("model", ["", MODEL + MODEL, MODEL.replace("NemotronH", "Other")])
def test_a_vllm_that_nothing_fits_is_refused_by_version_and_place(tmp_path: Path, model: str) -> None:
    source = a_vllm(tmp_path, OLDER, model)
    with pytest.raises(HeadSwitchError, match=rf"vLLM 0\.99\.1 \({tmp_path}\) has no head_dtype.*set {SWITCH}=0"):
        choose_strategy(None, source)


def test_a_folder_without_logits_processor_is_no_vllm(tmp_path: Path) -> None:
    with pytest.raises(VllmNotFoundError, match="holds no vLLM that is known here"):
        read_vllm(tmp_path, "1")
