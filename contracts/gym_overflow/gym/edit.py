"""Splicing a Gym source's text in memory: a new source with some places replaced, every other byte untouched."""

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from contracts.gym_overflow.gym.errors import RewriteNotApplicable
from contracts.gym_overflow.gym.sites import Site
from contracts.gym_overflow.gym.source import GymSource, sha256_of


@dataclass(frozen=True)
class Edit:
    """One replacement.

    Attributes:
        start: first byte that goes.
        end: byte behind the last that goes.
        text: what comes instead.
    """

    start: int
    end: int
    text: str


def replacing(source: GymSource, node: ast.stmt | ast.expr, text: str) -> Edit:
    """The edit that puts `text` in a node's place."""
    return Edit(*source.syntax.span(node), text)


def chosen_sites(source: GymSource, site: int | None) -> Sequence[Site]:
    """All sites, or the one with this index (from 0).

    Raises:
        RewriteNotApplicable: there is no such site.
        GymError: the sites cannot be read.
    """
    if site is None:
        return source.sites
    if not 0 <= site < len(source.sites):
        raise RewriteNotApplicable(f"{source.name}: there is no site {site}; it has {len(source.sites)}, from 0.")
    return (source.sites[site],)


def rewritten(source: GymSource, note: str, site: int | None, edits_of: Callable[[Site], Iterable[Edit]]) -> GymSource:
    """A source with the edits of each chosen site applied.

    Args:
        source: the source; it stays as it is.
        note: what the rewrite does, for the new source's name.
        site: index of the site to rewrite (from 0), or None for all of them.
        edits_of: the edits of one site; they must not overlap.

    Raises:
        RewriteNotApplicable: nothing would change.
        GymError: the sites cannot be read.
    """
    edits = sorted(
        (edit for each in chosen_sites(source, site) for edit in edits_of(each)), key=lambda edit: edit.start
    )
    data = source.syntax.data
    pieces: list[bytes] = []
    position = 0
    for edit in edits:
        pieces += [data[position : edit.start], edit.text.encode()]
        position = edit.end
    text = b"".join([*pieces, data[position:]]).decode()
    if text == source.text:
        raise RewriteNotApplicable(f"{source.name}: nothing to change for this rewrite: {note}.")
    where = "" if site is None else f" at site {site}"
    return replace(
        source,
        name=f"{source.name} ({note}{where})",
        pinned=False,
        text=text,
        sha256=sha256_of(text.encode()),
    )
