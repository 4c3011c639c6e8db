"""The Gyms that an endpoint is held against: all pinned releases, unless a run selects others."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from contracts.gym_overflow.gym import GymSource, load_gym, pinned_releases

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_loaded: dict[str, GymSource] = {}
_selected: ContextVar[tuple[GymSource, ...] | None] = ContextVar("contracts_gyms", default=None)


@contextmanager
def selected(specs: Iterable[str], progress: Callable[[str], None] | None = None) -> Iterator[tuple[GymSource, ...]]:
    """Hold endpoints against these Gyms inside the block; no spec means all pinned releases.

    Args:
        specs: Releases, wheels, source trees, files, or ``installed``.
        progress: Called with a line before each download.

    Raises:
        GymError: If one cannot be found or read.
    """
    wanted = tuple(specs)
    sources = tuple(load_gym(spec, progress=progress) for spec in wanted) if wanted else _pinned(progress)
    for source in sources:
        _say_what_is_read(source, progress)
    token = _selected.set(sources)
    try:
        yield sources
    finally:
        _selected.reset(token)


def gyms() -> tuple[GymSource, ...]:
    """The selected Gyms.

    Raises:
        GymError: If a pinned release cannot be fetched or read.
    """
    return _selected.get() or _pinned(None)


def _pinned(progress: Callable[[str], None] | None) -> tuple[GymSource, ...]:
    numbers = [release.release for release in pinned_releases()]
    for number in numbers:
        if number not in _loaded:
            _loaded[number] = load_gym(number, progress=progress)
    return tuple(_loaded[number] for number in numbers)


def _say_what_is_read(source: GymSource, progress: Callable[[str], None] | None) -> None:
    sites = source.sites
    if progress is not None and not source.pinned:
        lines = ", ".join(str(site.line) for site in sites)
        progress(f"{source.name} is not pinned by hash; read {source.path}, sites at lines {lines}")
