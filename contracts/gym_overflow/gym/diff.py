"""How the classifiers and their handlers changed from one Gym to another."""

from dataclasses import dataclass, fields
from typing import Literal

from contracts.gym_overflow.gym.handler import Handler
from contracts.gym_overflow.gym.sites import Site
from contracts.gym_overflow.gym.source import GymSource

ChangeKind = Literal["added", "removed", "moved", "expression", "triggers", "statuses", "handler"]


@dataclass(frozen=True)
class Change:
    """One difference.

    Attributes:
        kind: what changed.
        function: qualified name of the function in which the site stands (in the newer source, if it is there).
        before: how it was, or None for an added site.
        after: how it is, or None for a removed site.
    """

    kind: ChangeKind
    function: str
    before: str | None
    after: str | None


@dataclass(frozen=True)
class GymDiff:
    """The differences between two Gyms.

    Attributes:
        before: name of the first.
        after: name of the second.
        identical: whether the two files are the same, byte for byte.
        changes: differences, in order of sites.
    """

    before: str
    after: str
    identical: bool
    changes: tuple[Change, ...]

    @property
    def lines(self) -> tuple[str, ...]:
        """The differences as text, one heading line and then one to three lines each."""
        heading = f"{self.before} -> {self.after}"
        if self.identical:
            return (f"{heading}: the same file",)
        if not self.changes:
            return (f"{heading}: the file changed, its classifiers and handlers did not",)
        counted = "1 change" if len(self.changes) == 1 else f"{len(self.changes)} changes"
        lines = [f"{heading}: {counted}"]
        for change in self.changes:
            lines.append(f"{change.kind}: {change.function}")
            lines.extend(f"  - {line}" for line in (change.before or "").splitlines())
            lines.extend(f"  + {line}" for line in (change.after or "").splitlines())
        return tuple(lines)


def diff_sources(before: GymSource, after: GymSource) -> GymDiff:
    """Compare two Gyms site by site.

    Sites are matched by their function's qualified name; of those left over, one with the same expression is the
    same site under another name.

    Args:
        before: the older.
        after: the newer.

    Raises:
        GymError: a site of either cannot be read.
    """
    pairs, removed, added = _matched(before.sites, after.sites)
    changes = [change for old, new in pairs for change in _changes(old, new)]
    changes += [Change("removed", site.function, _described(site), None) for site in removed]
    changes += [Change("added", site.function, None, _described(site)) for site in added]
    return GymDiff(before.name, after.name, before.sha256 == after.sha256, tuple(changes))


def _matched(
    before: tuple[Site, ...], after: tuple[Site, ...]
) -> tuple[list[tuple[Site, Site]], list[Site], list[Site]]:
    pairs: list[tuple[Site, Site]] = []
    removed, added = list(before), list(after)
    for same in (_same_function, _same_expression):
        for old in tuple(removed):
            new = next((site for site in added if same(old, site)), None)
            if new is not None:
                pairs.append((old, new))
                removed.remove(old)
                added.remove(new)
    pairs.sort(key=lambda pair: pair[1].line)
    return pairs, removed, added


def _same_function(old: Site, new: Site) -> bool:
    return old.function == new.function


def _same_expression(old: Site, new: Site) -> bool:
    return old.classifier.normalized == new.classifier.normalized


def _described(site: Site) -> str:
    return "\n".join([f"{site.file}:{site.line}", site.classifier.normalized, *_handler_lines(site.handler)])


def _changes(old: Site, new: Site) -> list[Change]:
    compared: list[tuple[ChangeKind, str, str]] = [
        ("moved", f"{old.function} at line {old.line}", f"{new.function} at line {new.line}"),
        ("expression", old.classifier.normalized, new.classifier.normalized),
        ("triggers", _listed(old.classifier.triggers), _listed(new.classifier.triggers)),
        ("statuses", _listed(old.classifier.statuses), _listed(new.classifier.statuses)),
    ]
    changes = [Change(kind, new.function, was, now) for kind, was, now in compared if was != now]
    if old.handler != new.handler:
        was_lines, now_lines = _handler_lines(old.handler), _handler_lines(new.handler)
        was = "\n".join(line for line in was_lines if line not in now_lines)
        now = "\n".join(line for line in now_lines if line not in was_lines)
        changes.append(Change("handler", new.function, was, now))
    return changes


def _listed(values: tuple[object, ...]) -> str:
    return ", ".join(map(repr, values)) or "none"


def _handler_lines(handler: Handler) -> list[str]:
    return [
        f"{field.name}: {getattr(handler, field.name)}"
        for field in fields(handler)
        if field.compare  # the line is a place, not a behaviour
    ]
