"""How long a prompt is on an endpoint, and requests of an exact length."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts import Wrapper
from contracts.beneath import beneath
from contracts.gym_overflow.probe import Probe, Route, body_of, send
from contracts.gym_overflow.ruler import NoRoomError, PromptError, Ruler, model_of, window_of
from contracts.http import Answer
from impl.gym_overflow.adapter import ReferenceEndpoint, endpoint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TEMPLATE = 3


@dataclass
class Words:
    """An endpoint whose tokens are words, or what `tokens` makes of a text; like many adapters it is not hashable."""

    capabilities: frozenset[str] = frozenset()
    model: str | None = None
    window: int | None = None
    count_tokens: Any = None
    name: str = "words"
    version: str = ""
    card: Any = field(default_factory=lambda: {"id": "w", "max_model_len": 40})
    tokens: Callable[[str], int] = lambda text: len(text.split())
    usage: bool = True
    asked: list[str] = field(default_factory=list)

    def request(self, _method: str, path: str, *, json: Any = None, content: Any = None, headers: Any = None) -> Answer:
        assert content is None
        assert headers is None
        self.asked.append(path)
        if path == "/v1/models":
            return said(200, {"data": [self.card]} if self.card is not None else {})
        if path == "/tokenize":
            return said(200, {"count": self.length(json)} if self.usage else {"error": "no"})
        if self.length(json) >= self.card["max_model_len"]:
            return said(400, {"error": {"message": "too long"}})
        return said(200, {"usage": {"prompt_tokens": self.length(json)} if self.usage else None})

    def length(self, body: dict[str, Any]) -> int:
        return sum(TEMPLATE + self.tokens(message["content"]) for message in body["messages"])


def said(status: int, document: Any) -> Answer:
    return Answer(status, {"content-type": "application/json"}, json.dumps(document).encode())


@pytest.fixture(scope="module")
def reference() -> Iterator[ReferenceEndpoint]:
    with endpoint() as live:
        yield live


@settings(max_examples=60, deadline=None)
@given(
    route=st.sampled_from(Route),
    offset=st.integers(-40, 300),
    turns=st.integers(1, 4),
    lead=st.text(st.characters(codec="ascii", categories=["L"]), max_size=8),
)
def test_a_probe_has_exactly_its_length(
    reference: ReferenceEndpoint, route: Route, offset: int, turns: int, lead: str
) -> None:
    body = body_of(reference, Probe(offset, None, turns, lead), route)
    assert reference.count_tokens(route, body) == reference.window + offset


@pytest.mark.parametrize("offset", [-20, -1, 0, 1, 60])
@pytest.mark.parametrize(
    ("way", "path"),
    [
        (Words(usage=False, count_tokens=lambda _, body: Words().length(body)), None),
        (Words(usage=True, capabilities=frozenset({"tokenize"})), "/tokenize"),
        (Words(), "/v1/chat/completions"),
    ],
    ids=["count_tokens", "tokenize", "usage"],
)
def test_the_three_ways_to_count_hit_the_length(way: Words, path: str | None, offset: int) -> None:
    body = body_of(way, Probe(offset))
    assert way.length(body) == 40 + offset
    assert {asked for asked in way.asked if asked != "/v1/models"} == ({path} if path else set())


def test_the_limit_and_the_stream_do_not_disturb_the_count() -> None:
    body = body_of(Words(), Probe(-1, 10**6), stream=True, n=3)
    assert Words().length(body) == 39
    assert (body["max_tokens"], body["stream"], body["n"]) == (10**6, True, 3)


def test_a_tokenizer_that_merges_letters_gets_words() -> None:
    """'aaaaaaaa' is one word here, so the filler must be one with a space."""
    body = body_of(Words(), Probe(0))
    assert body["messages"][0]["content"] == " a" * 37


def test_a_tokenizer_that_merges_what_is_repeated_is_corrected() -> None:
    """Four fillers in a row beyond the thirtieth count as three; the measured line alone would miss the length."""

    def merging(text: str) -> int:
        count = len(text.split())
        return count if count <= 30 else 30 + (count - 30) * 3 // 4

    way = Words(tokens=merging, count_tokens=lambda _, body: Words(tokens=merging).length(body))
    assert way.length(body_of(way, Probe(4))) == 44


def test_turns_that_have_no_room_are_left_out() -> None:
    small = Words(card={"id": "w", "max_model_len": 9})
    body = body_of(small, Probe(0, turns=3))
    assert small.length(body) == 9
    assert len(body["messages"]) == 1


def test_model_and_window_come_from_the_adapter_first() -> None:
    assert (model_of(Words()), window_of(Words())) == ("w", 40)
    own = Words(model="mine", window=7, card=None)
    assert (model_of(own), window_of(own)) == ("mine", 7)
    assert own.asked == []


@pytest.mark.parametrize(
    ("way", "message"),
    [
        (
            Words(card=None),
            r"words: GET /v1/models lists no model; give model= and window= \(it was answered 200 \{\}\)",
        ),
        (Words(card={"id": "w"}), "the context window of words is not known: .* states no max_model_len; give window="),
        (
            Words(usage=False),
            r"not even a prompt of one or two words .*: it is answered 200 .*; use a larger window, or",
        ),
        (
            Words(usage=False, capabilities=frozenset({"tokenize"})),
            "POST /tokenize gives no count; it was answered 200",
        ),
        (Words(card={"id": "w", "max_model_len": 4}), "not even a prompt of one or two words .*: it is answered 400"),
        (Words(tokens=len), "'a' or ' a' or ' the' is not one token each|no prompt of exactly"),
        (Words(tokens=lambda _: 1), "'a' or ' a' or ' the' is not one token each on /v1/chat.*; give count_tokens="),
    ],
    ids=["no models", "no window", "no usage", "no count", "tiny window", "letters", "constant"],
)
def test_what_cannot_be_known_is_one_clear_error(way: Words, message: str) -> None:
    if way.tokens is len:
        assert way.length(body_of(way, Probe(0))) == 40
        return
    with pytest.raises(PromptError, match=message):
        body_of(way, Probe(0))


def test_a_prompt_shorter_than_the_template_has_no_room() -> None:
    with pytest.raises(
        NoRoomError, match="a prompt of 2 tokens leaves no room for any text: the template alone takes 3"
    ):
        body_of(Words(), Probe(-38))


def test_the_facts_are_measured_beneath_any_wrapper_and_once() -> None:
    class Lying(Wrapper):
        def request(self, *_arguments: Any, **_options: Any) -> Answer:
            return said(500, {})

    words = Words()
    assert Ruler.of(Lying(Lying(words))) is Ruler.of(words)
    assert beneath(Lying(Lying(words))) is words
    body_of(Lying(words), Probe(0))
    asked = len(words.asked)
    body_of(words, Probe(0))
    assert words.asked.count("/v1/models") == 1
    assert len(words.asked) == asked + 1


def test_the_facts_go_with_the_endpoint() -> None:
    """A second endpoint at the same address must not inherit the first one's window."""
    for window in range(30, 60):
        words = Words(card={"id": "w", "max_model_len": window})
        assert window_of(words) == window
        del words


def test_send_posts_the_probe_to_its_route(reference: ReferenceEndpoint) -> None:
    assert [send(reference, Probe(offset), route).status for route in Route for offset in (-1, 0)] == [200, 400] * 3
