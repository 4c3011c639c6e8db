"""Refits of real vLLM as it comes, with whatever it packs for this CPU, against engines started anew, bit for bit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

from impl.numerics.checkpoint import HeadShape
from impl.numerics.vllm import head_hook, invalidation, plugin, worker_refit
from impl.numerics.vllm.body import LlamaBody, NemotronHBody
from impl.numerics.vllm.checkpoint import write_folder
from impl.numerics.vllm.in_process import run_in_process
from impl.numerics.vllm.switch import SWITCH, HeadStrategy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from impl.numerics.vllm.body import Body
    from impl.numerics.vllm.engine import VllmEngine

pytestmark = [pytest.mark.engine("vllm"), pytest.mark.filterwarnings("ignore")]

PROMPT = [*range(3, 43)]
CACHED = HeadStrategy.CACHED


class Checkpoints:
    """Two checkpoints of one architecture, as folders and as updates, and what a fresh engine answers on each."""

    def __init__(self, body: Body, place: Path) -> None:
        self.body = body
        states = [body.checkpoint(seed, HeadShape()) for seed in (0, 1)]
        self.folders = [write_folder(place / str(n), body.config(HeadShape()), s) for n, s in enumerate(states)]
        self.updates = [{name: t.float().numpy() for name, t in state.items()} for state in states]
        self._fresh: dict[int, tuple[Any, Any]] = {}

    def start(self, number: int = 0, strategy: HeadStrategy | None = CACHED, **options: Any) -> VllmEngine:
        from impl.numerics.vllm.engine import VllmEngine  # noqa: PLC0415 - vLLM reads its environment as it is imported

        return VllmEngine(self.body, self.folders[number], strategy, **options)

    def fresh(self, number: int) -> tuple[Any, Any]:
        if number not in self._fresh:
            engine = self.start(number)
            self._fresh[number] = answers(engine)
            engine.close()
        return self._fresh[number]


def answers(engine: VllmEngine) -> tuple[Any, Any]:
    return engine.prefill(PROMPT).logits, engine.generate([PROMPT], max_tokens=3, seed=0)


def same(one: tuple[Any, Any], other: tuple[Any, Any]) -> bool:
    return np.array_equal(one[0], other[0]) and one[1] == other[1]


@pytest.fixture(scope="module", params=[LlamaBody, NemotronHBody], ids=["llama", "nemotron_h"])
def checkpoints(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Checkpoints:
    run_in_process()
    return Checkpoints(request.param(), tmp_path_factory.mktemp("checkpoints"))


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Checkpoints:
    run_in_process()
    return Checkpoints(LlamaBody(), tmp_path_factory.mktemp("llama"))


@pytest.fixture
def engine(llama: Checkpoints) -> Iterator[VllmEngine]:
    found = llama.start()
    yield found
    found.close()


def test_from_dummy_weights_every_transport_leaves_a_fresh_engine(checkpoints: Checkpoints) -> None:
    engine = checkpoints.start(load_format="dummy")
    try:
        assert not same(answers(engine), checkpoints.fresh(0))
        address = engine.head_storage()
        for turn, transport in enumerate(("direct", "collective", "file", "checkpoint")):
            engine.refit(checkpoints.updates[turn % 2], transport=transport)
            assert same(answers(engine), checkpoints.fresh(turn % 2)), transport
            assert engine.head_storage() == address
        rows = -(-checkpoints.body.vocab // 64) * 64
        assert engine.head_bytes() == rows * 128 * 4
    finally:
        engine.close()


def test_vllms_own_reload_alone_leaves_the_copy_right(engine: VllmEngine, llama: Checkpoints) -> None:
    answers(engine)
    engine.llm.collective_rpc("reload_weights", kwargs={"weights_path": str(llama.folders[1])})
    engine.llm.reset_prefix_cache()
    assert same(answers(engine), llama.fresh(1))


def test_without_the_marks_every_transport_leaves_the_copy_behind(
    llama: Checkpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is shown is that the marks are load-bearing on the real engine, whoever carries the weights."""
    plugin.uninstall()
    monkeypatch.setattr(invalidation, "watch_weights", lambda _replaced: None)
    monkeypatch.setattr(worker_refit, "invalidate_copies", lambda: None)
    monkeypatch.setattr(worker_refit, "refresh_copies", list)
    engine = llama.start()
    try:
        for transport in ("direct", "collective", "file", "checkpoint"):
            engine.refit(llama.updates[1], transport=transport)
            logits, _ = answers(engine)
            assert not np.array_equal(logits, llama.fresh(0)[0]), "the body is new"
            hidden = torch.from_numpy(engine.prefill(PROMPT).hidden)
            old = hidden @ torch.from_numpy(llama.updates[0]["lm_head.weight"]).T
            assert torch.allclose(torch.from_numpy(logits), old, atol=1e-3), f"{transport}: the head is old"
    finally:
        engine.close()
        plugin.uninstall()


def test_a_broken_update_leaves_a_worker_that_refuses_until_a_whole_one(engine: VllmEngine, llama: Checkpoints) -> None:
    broken = {**llama.updates[1], "model.no_such.weight": np.zeros((2, 2), dtype=np.float32)}
    with pytest.raises(Exception, match="no_such"):
        engine.refit(broken, transport="direct")
    with pytest.raises(RuntimeError, match="left old and new weights mixed: refit all weights"):
        engine.score([PROMPT])
    with pytest.raises(RuntimeError, match="send all weights"):
        engine.refit({"lm_head.weight": llama.updates[1]["lm_head.weight"]}, transport="direct")
    engine.llm.collective_rpc("rlc_begin")
    with pytest.raises(worker_refit.MixedWeightsError, match="an earlier refit failed"):
        engine.llm.collective_rpc("rlc_load", kwargs={"complete": False})
    engine.refit(llama.updates[1], transport="direct")
    assert same(answers(engine), llama.fresh(1))


def test_a_broadcast_that_nobody_took_is_not_waited_for_in_the_next_update(
    engine: VllmEngine, llama: Checkpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(*_arguments: object) -> None:
        raise ConnectionError("the worker was lost")

    with monkeypatch.context() as patched:
        patched.setattr(worker_refit.RefitWorker, "rlc_receive", lost)
        with pytest.raises(Exception, match="the worker was lost"):
            engine.refit(llama.updates[1], transport="collective")
    assert same(answers(engine), llama.fresh(0))
    engine.refit(llama.updates[1], transport="collective")
    assert same(answers(engine), llama.fresh(1))


def test_nothing_to_read_is_an_error_and_the_old_weights_stay(
    engine: VllmEngine, llama: Checkpoints, tmp_path: Path
) -> None:
    engine.llm.collective_rpc("rlc_begin")
    with pytest.raises(FileNotFoundError, match="nothing to refit from"):
        engine.llm.collective_rpc("rlc_read", args=(str(tmp_path),))
    with pytest.raises(RuntimeError, match="joined no broadcast group"):
        engine.llm.collective_rpc("rlc_receive", args=("lm_head.weight", "bfloat16", [2, 2]))
    with pytest.raises(ValueError, match="no transport 'pigeon'"):
        engine.refit(llama.updates[1], transport="pigeon")
    assert same(answers(engine), llama.fresh(0))


def test_a_process_without_the_plugin_is_refused_before_the_first_token(
    llama: Checkpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin.uninstall()
    monkeypatch.setattr(plugin, "register", lambda: None)
    with pytest.raises(
        RuntimeError, match=f"not installed in vLLM's worker process .* VLLM_PLUGINS include {plugin.NAME}"
    ):
        llama.start()


def test_a_head_that_is_rounded_afterwards_is_refused_before_the_first_token(
    llama: Checkpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin.uninstall()
    exact = head_hook._HEADS[CACHED]  # noqa: SLF001 - the defect is seeded where the product is made
    monkeypatch.setitem(head_hook._HEADS, CACHED, lambda *a: exact(*a).bfloat16())  # noqa: SLF001 - as above
    try:
        with pytest.raises(RuntimeError, match="bfloat16, 100% of them on the bf16 grid: the strategy has no effect"):
            llama.start()
    finally:
        plugin.uninstall()


def test_off_puts_back_vllms_own_methods(llama: Checkpoints) -> None:
    """Not a pass-through that decides inside, but the very functions that vLLM was imported with."""
    from vllm.engine.arg_utils import EngineArgs  # noqa: PLC0415 - as above
    from vllm.model_executor.layers.logits_processor import LogitsProcessor  # noqa: PLC0415 - as above
    from vllm.model_executor.layers.vocab_parallel_embedding import VocabParallelEmbedding  # noqa: PLC0415 - as above
    from vllm.v1.worker.gpu_worker import Worker  # noqa: PLC0415 - as above

    def methods() -> list[Any]:
        names = [(LogitsProcessor, "__init__"), (VocabParallelEmbedding, "weight_loader"), (Worker, "load_model")]
        names += [(Worker, "reload_weights"), (EngineArgs, "create_model_config")]
        return [vars(owner)[name] for owner, name in names]

    plugin.uninstall()
    before = methods()
    for strategy in (HeadStrategy.CACHED, HeadStrategy.NATIVE):
        plugin.install(strategy)
        assert methods() != before
    llama.start(strategy=None).close()
    assert methods() == before


def test_off_computes_what_vllm_alone_computes(llama: Checkpoints, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a process that had the head on before, and against an engine that has nothing of this project in it."""
    from vllm import LLM, SamplingParams  # noqa: PLC0415 - as above

    from impl.numerics.vllm.engine import small_engine  # noqa: PLC0415 - as above
    from impl.numerics.vllm.in_process import release  # noqa: PLC0415 - as above

    sampling = SamplingParams(max_tokens=3, seed=0, logprobs=3, prompt_logprobs=3, detokenize=False)

    def said(llm: Any) -> tuple[Any, Any, Any]:
        (answer,) = llm.generate([{"prompt_token_ids": PROMPT}], sampling, use_tqdm=False)
        return answer.outputs[0].token_ids, answer.outputs[0].logprobs, answer.prompt_logprobs

    found = []
    for strategy in (CACHED, None):
        engine = llama.start(strategy=strategy)
        found.append(said(engine.llm))
        engine.close()
    on, off = found
    monkeypatch.delenv(SWITCH, raising=False)
    options = small_engine(llama.body)
    del options["worker_extension_cls"]
    alone = LLM(model=str(llama.folders[0]), **options)
    untouched = said(alone)
    release(alone)
    assert off == untouched
    assert on != untouched


def test_without_its_reset_the_prefix_cache_answers_for_the_old_weights(
    engine: VllmEngine, llama: Checkpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.generate([PROMPT], max_tokens=3, seed=0)
    with monkeypatch.context() as patched:
        patched.setattr(engine.llm, "reset_prefix_cache", lambda: True)
        engine.refit(llama.updates[1], transport="direct")
        mixed = engine.generate([PROMPT], max_tokens=3, seed=0)
    engine.refit(llama.updates[1], transport="direct")
    assert engine.generate([PROMPT], max_tokens=3, seed=0) != mixed
    assert same(answers(engine), llama.fresh(1))


def test_the_native_head_reaches_a_drafter_too(llama: Checkpoints) -> None:
    from vllm.engine.arg_utils import EngineArgs  # noqa: PLC0415 - as above

    def dtypes() -> tuple[torch.dtype, torch.dtype]:
        speculative = {"model": str(llama.folders[1]), "method": "draft_model", "num_speculative_tokens": 2}
        arguments = EngineArgs(
            model=str(llama.folders[0]), skip_tokenizer_init=True, dtype="bfloat16", speculative_config=speculative
        )
        config = arguments.create_engine_config()
        return config.model_config.head_dtype, config.speculative_config.draft_model_config.head_dtype

    plugin.uninstall()
    assert dtypes() == (torch.bfloat16, torch.bfloat16)
    plugin.install(HeadStrategy.NATIVE)
    assert dtypes() == (torch.float32, torch.float32)
    plugin.uninstall()
