"""The embedded engine: deterministic, byte-level, obedient to every sampling field."""

from __future__ import annotations

from impl.gym_overflow.engine import END, Engine, SamplingParams, detokenize, tokenize

PROMPT = tokenize("a prompt")


def test_one_byte_is_one_token() -> None:
    text = "h\u00e9llo \U0001f600"
    assert len(tokenize(text)) == len(text.encode())
    assert detokenize(tokenize(text)) == text


def test_the_same_request_has_the_same_tokens() -> None:
    params = SamplingParams(max_tokens=40, seed=3)
    assert Engine().generate(PROMPT, params).ids == Engine().generate(PROMPT, params).ids


def test_prompt_seed_and_index_change_the_tokens() -> None:
    params = SamplingParams(max_tokens=40, ignore_eos=True)
    engine = Engine()
    texts = {
        engine.generate(PROMPT, params).text,
        engine.generate(tokenize("another prompt"), params).text,
        engine.generate(PROMPT, SamplingParams(max_tokens=40, ignore_eos=True, seed=1)).text,
        engine.generate(PROMPT, params, index=1).text,
    }
    assert len(texts) == 4


def test_greedy_decoding_ignores_seed_and_index() -> None:
    one, two = (SamplingParams(max_tokens=20, temperature=0, seed=seed) for seed in (1, 2))
    assert Engine().generate(PROMPT, one).ids == Engine().generate(PROMPT, two, index=5).ids


def test_generation_ends_by_itself_unless_told_not_to() -> None:
    by_itself = Engine().generate(PROMPT, SamplingParams(max_tokens=2000))
    assert by_itself.finish_reason == "stop"
    assert by_itself.ids[-1] == END
    on = Engine().generate(PROMPT, SamplingParams(max_tokens=2000, ignore_eos=True))
    assert on.finish_reason == "length"
    assert len(on.ids) == 2000


def test_min_tokens_puts_off_every_end() -> None:
    params = SamplingParams(max_tokens=2000, min_tokens=500, stop=(" ", "e"))
    assert len(Engine().generate(PROMPT, params).ids) > 500


def test_a_stop_string_ends_the_text_and_is_cut_off() -> None:
    whole = Engine().generate(PROMPT, SamplingParams(max_tokens=30, ignore_eos=True)).text
    stop = whole[10:12]
    stopped = Engine().generate(PROMPT, SamplingParams(max_tokens=30, ignore_eos=True, stop=(stop,)))
    assert stopped.finish_reason == "stop"
    assert stopped.text == whole[: whole.index(stop)]


def test_a_stop_token_id_ends_the_generation() -> None:
    whole = Engine().generate(PROMPT, SamplingParams(max_tokens=30, ignore_eos=True)).ids
    params = SamplingParams(max_tokens=30, ignore_eos=True, stop_token_ids=frozenset({whole[5]}))
    assert Engine().generate(PROMPT, params).ids == whole[: whole.index(whole[5]) + 1]


def test_logprobs_are_finite_and_alternatives_are_ordered() -> None:
    for token in Engine().generate(PROMPT, SamplingParams(max_tokens=30, top_logprobs=5)).tokens:
        logprobs = [logprob for _, logprob in token.top]
        assert token.top[0] == (token.id, token.logprob)
        assert len({one for one, _ in token.top}) == 5
        assert logprobs == sorted(logprobs, reverse=True)
        assert logprobs[0] < 0
