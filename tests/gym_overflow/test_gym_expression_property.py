"""Random expressions: whatever is accepted means what Python makes of it, and none of them ever runs."""

import builtins
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from contracts.gym_overflow.gym.errors import EvaluationError, UnsupportedExpression
from contracts.gym_overflow.gym.sites import find_sites
from contracts.gym_overflow.gym.syntax import SourceText

TEMPLATE = """
class Proxy:
    async def ask(self):
        try:
            answer()
        except Refused as e:
            body = e.response_content.decode()
            is_out_of_context_length = ({expression})
            if is_out_of_context_length:
                return Made(choices=[Choice(finish_reason="length", message=Message(content=None))])
            raise
"""

armed: list[tuple[int, list[str]]] = []


def _watch(event: str, _arguments: object) -> None:
    if armed and armed[0][0] == threading.get_ident():
        armed[0][1].append(event)


@contextmanager
def tripwire() -> Iterator[list[str]]:
    """Every audit event of this thread (import, open, compile, exec, a process, a socket) while it is armed."""
    events: list[str] = []
    armed.append((threading.get_ident(), events))
    try:
        yield events
    finally:
        armed.clear()


@pytest.fixture(scope="module", autouse=True)
def _hooked() -> None:
    # An audit hook cannot be taken off again; disarmed, it only looks at an empty list.
    sys.addaudithook(_watch)


def sentinel(*_arguments: object, **_named: object) -> bool:
    """What a name planted among the builtins calls, if anything does."""
    sys.audit("sentinel.called")
    return True


@pytest.fixture(autouse=True)
def _planted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builtins, "planted", sentinel, raising=False)


words = st.sampled_from(["context length", "max_tokens", "Context", "ß", "", "x"])
numbers = st.sampled_from([0, 1, 400, 422, 500])
scalars = st.one_of(words, numbers, st.booleans(), st.none()).map(repr)


def collection(elements: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    items = st.lists(elements, min_size=1, max_size=3).map(", ".join)
    return st.one_of(items.map("({},)".format), items.map("[{}]".format), items.map("{{{}}}".format))


# A set of one kind only: which of two kinds Python meets first is up to its hashing.
loops = st.one_of(
    st.lists(scalars, max_size=3).map(lambda items: "[" + ", ".join(items) + "]"),
    collection(words.map(repr)),
    collection(numbers.map(repr)),
)
leaves = st.one_of(st.just("e.status"), st.just("e.status_code"), st.just("body"), scalars, collection(scalars))
operators = st.sampled_from(["==", "!=", "<", "<=", ">", ">=", "in", "not in"])


def grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(inner, operators, inner).map(lambda parts: f"({parts[0]} {parts[1]} {parts[2]})"),
        st.tuples(inner, operators, inner, operators, inner).map(lambda parts: f"({' '.join(parts)})"),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"({' and '.join(parts)})"),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"({' or '.join(parts)})"),
        inner.map("(not {})".format),
    )


lowered = st.one_of(st.just("body.lower()"), words.map(lambda word: f"{word!r}.lower()"))
looped = st.recursive(st.one_of(leaves, lowered, st.just("w"), st.just("w.lower()")), grown, max_leaves=5)
generated = st.tuples(looped, loops).map(lambda parts: f"any({parts[0]} for w in {parts[1]})")
allowed = st.recursive(st.one_of(leaves, lowered, generated), grown, max_leaves=10)

names = st.sampled_from(
    ["planted", "__import__", "open", "eval", "exec", "compile", "print", "breakpoint", "getattr", "__builtins__"]
)
attributes = st.sampled_from(["__class__", "__mro__", "__globals__", "__subclasses__", "lower", "status", "format"])


def wild(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        grown(inner),
        st.tuples(inner, attributes).map(lambda parts: f"({parts[0]}).{parts[1]}"),
        st.tuples(inner, attributes).map(lambda parts: f"({parts[0]}).{parts[1]}()"),
        st.tuples(names, inner).map(lambda parts: f"{parts[0]}({parts[1]})"),
        names.map("{}('os')".format),
        inner.map("planted(*[{}])".format),
        st.tuples(inner, inner).map(lambda parts: f"any(({parts[0]}) for w in ({parts[1]}))"),
        st.tuples(inner, inner).map(lambda parts: f"[{parts[0]} for w in ({parts[1]})]"),
        inner.map("(n := {})".format),
        inner.map("(lambda: {})()".format),
        inner.map("({} if planted() else 1)".format),
        inner.map("(({})[planted()])".format),
        inner.map(lambda text: "f'{planted()}' + " + text),
        st.tuples(inner, st.sampled_from(["+", "%", "*", "**", "@", "is"]), inner).map(
            lambda parts: f"(({parts[0]}) {parts[1]} ({parts[2]}))"
        ),
        inner.map("(await {})".format),
    )


hostile = st.recursive(st.one_of(leaves, names, st.just("e"), st.just("planted()")), wild, max_leaves=8)
answers = st.tuples(st.sampled_from([200, 400, 422, 500]), st.one_of(words, st.text(max_size=20)))


def python_says(expression: str, status: int, body: str) -> bool | None:
    """The oracle: Python's own value, or None where it raises. Only for what the whitelist let through."""
    seen = {"e": SimpleNamespace(status=status, status_code=status), "body": body}
    try:
        return bool(eval(f"({expression})", {"__builtins__": {"any": any}, **seen}))  # noqa: S307 - our own words
    except (TypeError, AttributeError):
        return None


def reader_says(source: SourceText, status: int, body: str) -> tuple[bool | None, list[str]]:
    """Our value, or None where the expression raises, and what the tripwire saw meanwhile."""
    assert source.module.body, "parsed before the tripwire, because parsing itself is audited as `compile`"
    with tripwire() as events:
        (site,) = find_sites(source)
        try:
            return site.classifier.evaluate(status, body), events
        except EvaluationError:
            return None, events


def source_of(expression: str) -> SourceText:
    return SourceText(TEMPLATE.format(expression=expression), "gym/app.py")


def test_the_tripwire_sees_what_it_should() -> None:
    with tripwire() as events:
        eval("planted() or __import__('os')")  # noqa: S307 - proves that the hook is armed
    assert {"compile", "exec", "sentinel.called"} <= set(events)


@settings(max_examples=400, deadline=None)
@given(allowed, answers)
@example("any(w in body.lower() for w in ('x',))", (400, "X"))
def test_what_is_allowed_is_accepted_and_means_what_python_makes_of_it(
    expression: str, answer: tuple[int, str]
) -> None:
    ours, events = reader_says(source_of(expression), *answer)
    assert events == []
    assert ours is python_says(expression, *answer), expression


@settings(max_examples=600, deadline=None)
@given(hostile, answers)
@example("planted()", (400, ""))
@example("e.status == 400 and __import__('os').system('true')", (400, ""))
def test_whatever_is_fed_nothing_runs(expression: str, answer: tuple[int, str]) -> None:
    source = source_of(expression)
    assert source.module.body
    with tripwire() as events:
        try:
            (site,) = find_sites(source)
        except UnsupportedExpression:
            accepted = False
        else:
            accepted = True
            try:
                ours: bool | None = site.classifier.evaluate(*answer)
            except EvaluationError:
                ours = None
    assert events == [], expression
    if accepted:
        assert "planted" not in expression
        assert ours is python_says(expression, *answer), expression
