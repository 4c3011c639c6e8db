"""Points on their way to a service that can append: cut into pieces of the size that it takes."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from impl.metrics_wire.client import JobsClient, RequestRefusedError, encoded
from impl.metrics_wire.series import LOSS_SERIES

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Bytes of points that go into one append, until the service says that it is too much.
APPEND_BYTES = 4 << 20

#: Points by series and step, each as its JSON text.
Points = dict[str, dict[int, str]]


def size_of(points: Points) -> int:
    """Bytes of the points, without the names of their series."""
    return sum(len(text) for texts in points.values() for text in texts.values())


def encoded_points(points: Points) -> str:
    """The points as a JSON object. The losses are always named, so that their series exist though they are empty."""
    texts = {name: list(points.get(name, {}).values()) for name in dict.fromkeys((*LOSS_SERIES, *points))}
    return "{" + ",".join(f"{encoded(name)}:[{','.join(each)}]" for name, each in texts.items()) + "}"


def pieces_of(points: Points, limit: int) -> Iterator[Points]:
    """The points in pieces of about ``limit`` bytes, at least one point each."""
    piece: Points = {}
    size = 0
    for name, texts in points.items():
        for step, text in texts.items():
            if piece and size + len(text) > limit:
                yield piece
                piece, size = {}, 0
            piece.setdefault(name, {})[step] = text
            size += len(text)
    if piece:
        yield piece


def smaller_limit(points: Points, refused: RequestRefusedError) -> int | None:
    """Bytes that a piece of these may have, which were refused; ``None`` if smaller ones would be refused too."""
    is_one = sum(map(len, points.values())) == 1
    if refused.status_code != HTTPStatus.REQUEST_ENTITY_TOO_LARGE or is_one:
        return None
    return size_of(points) // 2


def append_all(client: JobsClient, points: Points, *, limit: int = APPEND_BYTES, patience_s: float) -> None:
    """Append all of the points, in pieces of ``limit`` bytes or of as many as the service takes.

    Raises:
        ServiceError: If not all of them are stored.
    """
    for piece in pieces_of(points, limit):
        try:
            client.append(encoded_points(piece), patience_s=patience_s)
        except RequestRefusedError as refused:
            smaller = smaller_limit(piece, refused)
            if smaller is None:
                raise
            append_all(client, piece, limit=smaller, patience_s=patience_s)
