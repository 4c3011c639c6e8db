"""What an adapter of this room offers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from contracts.mutant import Wrapper

if TYPE_CHECKING:
    from collections.abc import Mapping

    from contracts.answer import Answer
    from contracts.gym_overflow.gym import GymSource


class Endpoint(Protocol):
    """A chat endpoint. `contracts.http.UrlAdapter` and `contracts.http.AsgiAdapter` are two.

    Attributes:
        name: Name in reports.
        version: Version in reports.
        capabilities: Names from `contracts.gym_overflow.sides.ENDPOINT_CAPABILITIES`.
        model: Model name for requests; ``None`` means the first that ``/v1/models`` lists.
        window: Context window in tokens; ``None`` means the ``max_model_len`` that ``/v1/models`` states.
        count_tokens: Called as ``count_tokens(path, body)``; gives the number of tokens of the final prompt that the
            endpoint would build for this body. ``None`` means: ask ``/tokenize``, or the ``usage`` of an answer.

    An adapter that declares ``internal_fault`` also has ``internal_fault(message, method, path, json)``: it sends the
    request while the server raises ``ValueError(message)`` as it serves it, and gives the answer.
    """

    name: str
    version: str
    capabilities: frozenset[str]
    model: str | None
    window: int | None
    count_tokens: Any

    def request(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send one request and read the whole answer. May be called from several threads at once."""


class EndpointWrapper(Wrapper):
    """An endpoint in front of another, the base of this room's mutants."""

    inner: Any

    def request(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Forward the request."""
        answer: Answer = self.inner.request(method, path, json=json, content=content, headers=headers)
        return answer


class ClassifierSource(Protocol):
    """A Gym source, as `contracts.gym_overflow.gym.load_gym` reads it.

    Its capabilities are names from `contracts.gym_overflow.sides.CLASSIFIER_CAPABILITIES`.
    """

    @property
    def name(self) -> str:
        """Name in reports."""

    @property
    def version(self) -> str:
        """The release, empty where it is not known."""

    @property
    def capabilities(self) -> frozenset[str]:
        """What the source declares."""

    @property
    def gym(self) -> GymSource:
        """The source."""
