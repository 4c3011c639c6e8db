"""Names: which curve an observation belongs to.

A series is ``<phase>_<name>``, phase ``train`` or ``val``. A name that already carries its phase is not prefixed
again. The first validation set keeps the bare names; another set's are ``val_@<set>/<name>``, with ``%``, ``/`` and
``@`` of the set's own name escaped. A bare name of a validation that reads like that itself becomes ``@@/<name>``.
Thereby the name of a series tells its set and its metric, and no two of them meet.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

Phase = Literal["train", "val"]

_MARK = "@"
_ESCAPES = {"%": "%25", "/": "%2F", _MARK: "%40"}


@dataclass(frozen=True, slots=True)
class Channel:
    """What a prefix of `log_metrics` stands for.

    Attributes:
        phase: ``train`` or ``val``.
        validation_set: Name of the validation set, ``""`` where the prefix names none.
        timing: Whether it carries durations.
    """

    phase: Phase
    validation_set: str = ""
    timing: bool = False


def channel(prefix: str) -> Channel | None:
    """The channel of a prefix; ``None`` for one whose steps are not train steps (``ray``, ``refit``, ...)."""
    section, slash, rest = prefix.partition("/")
    timing = bool(slash) and section == "timing"
    phase = rest if timing else prefix
    if phase == "train":
        return Channel("train", timing=timing)
    if phase == "validation":
        return Channel("val", timing=timing)
    if phase.startswith("validation-"):
        return Channel("val", phase.removeprefix("validation-"), timing=timing)
    return None


@lru_cache(maxsize=512)
def series_names(names: tuple[str, ...], phase: Phase, qualifier: str = "") -> tuple[str, ...]:
    """The series that the metrics ``names`` of one dict are points of, one for each name, all different.

    Args:
        names: The metrics' names, all different.
        phase: Whose dict it is.
        qualifier: What stands before a name after the phase, from `ValidationSets.qualifier` or `timing_qualifier`.
    """
    prefix = f"{phase}_"
    # Bare names come first: a metric that is called train_loss must not take the place of the loss.
    bare = {name: _rest(name, phase, qualifier) for name in names if not _carries(name, prefix)}
    taken = set(bare.values())
    series = {name: prefix + rest for name, rest in bare.items()}
    for name in names:
        if name in series:
            continue
        stem = name.removeprefix(prefix)
        while (rest := _rest(stem, phase, qualifier)) in taken:
            stem = prefix + stem
        taken.add(rest)
        series[name] = prefix + rest
    return tuple(series[name] for name in names)


def timing_qualifier(validation_set: str) -> str:
    """What stands before the name of a duration, after the phase."""
    return f"timing/{_set_qualifier(validation_set)}" if validation_set else "timing/"


@dataclass(slots=True)
class ValidationSets:
    """Which validation set has the bare names: the first one that is seen.

    Attributes:
        first: The set with the bare names, ``None`` before any was seen.
        others: Sets known to have qualified names.
        seen: The sets that this process has seen, in their order.
    """

    first: str | None = None
    others: set[str] = field(default_factory=set)
    seen: dict[str, None] = field(default_factory=dict)

    def qualifier(self, validation_set: str) -> str:
        """What stands before a metric's name of this set, after the phase."""
        self.seen.setdefault(validation_set)
        if self.first is None and validation_set not in self.others:
            self.first = validation_set
        return "" if validation_set == self.first else _set_qualifier(validation_set)

    def learn(self, stored: Iterable[str]) -> Renaming | None:
        """Take over what the names of already stored series tell: a set that they qualify is not the first.

        Returns:
            What becomes of the names that this process has given so far, ``None`` if they stay as they are.
        """
        for name in stored:
            marked = name.removeprefix(f"val_{_MARK}")
            escaped, slash, _ = marked.partition("/")
            if marked != name and slash and escaped != _MARK:
                self.others.add(_unescaped(escaped))
        if self.first is None or self.first not in self.others:
            return None
        before = self.first
        self.first = next((each for each in self.seen if each not in self.others), None)
        return Renaming(_set_qualifier(before), None if self.first is None else _set_qualifier(self.first))


@dataclass(frozen=True, slots=True)
class Renaming:
    """The bare names of validation change hands.

    Attributes:
        before: Qualifier of the set that has to give them back.
        after: Qualifier of the set that gets them, ``None`` if it was not seen yet.
    """

    before: str
    after: str | None

    def __call__(self, series: str) -> str:
        """The new name of a series."""
        rest = series.removeprefix("val_")
        if rest == series or rest.startswith("timing/"):
            return series
        if self.after is not None and rest.startswith(self.after):
            return f"val_{rest.removeprefix(self.after)}"
        is_bare = not rest.startswith(_MARK) or rest.startswith(f"{_MARK}{_MARK}/")
        return f"val_{self.before}{rest}" if is_bare else series


def _carries(name: str, prefix: str) -> bool:
    return name.startswith(prefix) and len(name) > len(prefix)


def _rest(name: str, phase: Phase, qualifier: str) -> str:
    is_like_a_set = phase == "val" and name.startswith(_MARK) and "/" in name
    return f"{qualifier}{_MARK}{_MARK}/{name}" if is_like_a_set else qualifier + name


def _set_qualifier(validation_set: str) -> str:
    escaped = "".join(_ESCAPES.get(letter, letter) for letter in validation_set)
    return f"{_MARK}{escaped}/"


def _unescaped(escaped: str) -> str:
    for letter, escape in reversed(_ESCAPES.items()):
        escaped = escaped.replace(escape, letter)
    return escaped
