"""Engines that run a history of requests once: the same start, asked the same in the same order, answers the same.

A contract starts hundreds of engines, most of them on weights and for requests that another one saw before, and a real
engine takes seconds to start. What is kept is what a real engine answered; whatever was not yet asked after exactly
this history starts one, carries the history out on it, and asks. So two engines of one history cannot be told apart:
that a start repeats itself is not what this can show, see ``test_engine_vllm_refit.py``.
"""

from __future__ import annotations

import copy
import hashlib
import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from impl.numerics.answers import Prefill, Sample

Memory = dict[str, tuple[bool, Any]]
"""By history: whether the last request succeeded, and its answer or error."""

_once = itertools.count()


class HistoryError(BaseException):
    """An engine does not do what one with the same history did, or is asked after it was closed.

    No `Exception`: to a check that would be an engine that refuses, which some of them ask for.
    """


def digest(*values: object) -> str:
    """A name for values, arrays by their content."""
    found = hashlib.sha256()
    for value in values:
        if isinstance(value, Mapping):
            for name in sorted(value):
                found.update(f"{name}:{value[name].shape}:{value[name].dtype};".encode())
                found.update(np.ascontiguousarray(value[name]).tobytes())
        else:
            found.update(f"{value!r};".encode())
    return found.hexdigest()


class RememberedEngine:
    """One engine, started when it is first asked what no equal one was asked before."""

    def __init__(self, start: Callable[[], Any], memory: Memory, key: str) -> None:
        """Name a history.

        Args:
            start: starts the real engine.
            memory: shared by engines of one adapter.
            key: names what it is started on.
        """
        self._start, self._memory, self._key = start, memory, key
        self._live: Any = None
        self._closed = False
        self._pending: list[tuple[str, Callable[[Any], Any]]] = []

    def parameters(self) -> dict[str, str]:
        """See `VllmEngine`; so for the other methods."""
        return dict(self._ask("parameters", lambda engine: engine.parameters()))

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """The state dict."""
        return dict(self._ask("weights", lambda engine: engine.weights()))

    def matmul_flags(self) -> dict[str, str]:
        """Precision settings of every worker, as they are now."""
        return dict(self._engine().matmul_flags())

    def head_storage(self) -> int | None:
        """The copy's address in this very engine."""
        address: int | None = self._engine().head_storage()
        return address

    def prefill(self, tokens: Sequence[int]) -> Prefill:
        """One forward over a sequence."""
        sent = list(tokens)
        found: Prefill = self._ask(f"prefill {sent}", lambda engine: engine.prefill(sent))
        return found

    def score(self, sequences: Sequence[Sequence[int]]) -> list[NDArray[np.float64]]:
        """Log probabilities of ``tokens[1:]`` of each sequence."""
        sent = [list(tokens) for tokens in sequences]
        return list(self._ask(f"score {sent}", lambda engine: engine.score(sent)))

    def generate(self, prompts: Sequence[Sequence[int]], *, max_tokens: int, seed: int) -> list[Sample]:
        """Sample after each prompt."""
        sent = [list(tokens) for tokens in prompts]
        request = f"generate {sent} {max_tokens} {seed}"
        return list(self._ask(request, lambda engine: engine.generate(sent, max_tokens=max_tokens, seed=seed)))

    def refit(
        self,
        weights: Mapping[str, NDArray[np.float32]],
        *,
        transport: str,
        order: Sequence[str] = (),
        between: Callable[[], None] | None = None,
    ) -> None:
        """Take new weights; with ``between`` always on the real engine, whose requests it may send."""
        # Copies: carried out later, perhaps after the caller changed his own.
        sent, names = {name: np.array(weight) for name, weight in weights.items()}, list(order or weights)
        if between is None:
            request = f"refit {transport} {names} {digest(sent)}"
            self._ask(request, lambda engine: engine.refit(sent, transport=transport, order=names))
            return
        engine = self._engine()
        self._key = digest(self._key, "unrepeatable", next(_once))
        engine.refit(sent, transport=transport, order=names, between=between)

    def close(self) -> None:
        """Stop the real engine, if one was started; whatever is asked afterwards is an error."""
        self._closed = True
        if self._live is not None:
            self._live.close()
            self._live = None

    def _ask(self, request: str, call: Callable[[Any], Any]) -> Any:
        self._refuse_closed()
        self._key = digest(self._key, request)
        if self._key in self._memory:
            self._pending.append((self._key, call))
        else:
            self._memory[self._key] = _outcome(call, self._engine())
        succeeded, answer = self._memory[self._key]
        if not succeeded:
            raise answer.with_traceback(None)
        # A copy: whoever changes his answer must not change the next one's.
        return copy.deepcopy(answer)

    def _engine(self) -> Any:
        """The real engine, with the whole history behind it.

        Raises:
            HistoryError: a request fails that succeeded before, or the other way round.
        """
        self._refuse_closed()
        if self._live is None:
            self._live = self._start()
        pending, self._pending = self._pending, []
        for key, call in pending:
            (succeeded, answer), (succeeds, now) = self._memory[key], _outcome(call, self._live)
            if succeeds != succeeded:
                raise HistoryError(f"a request was answered {answer!r} before and {now!r} now, after the same history")
        return self._live

    def _refuse_closed(self) -> None:
        if self._closed:
            raise HistoryError("this engine was closed: start another")


def _outcome(call: Callable[[Any], Any], engine: Any) -> tuple[bool, Any]:
    try:
        return True, call(engine)
    except Exception as error:  # noqa: BLE001 - an engine's error is its answer, raised again each time
        return False, error
