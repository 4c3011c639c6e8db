"""Whether what is stored after a replay is what the trace's first line expects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from contracts.metrics_wire.traces.recording import Trace

#: Keys of ``expect`` that are explanations, or tell about the calls rather than about what is stored.
_PROSE = frozenset({"note", "policy", "rollout_logs_per_step", "non_scalars_present"})

_TIMING = ("train_timing/", "val_timing/")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a trace.

    Attributes:
        mismatches: One line for each expectation that is not met.
        met: Expectations that are met.
        not_judged: Keys of ``expect`` that are not known here.
    """

    mismatches: tuple[str, ...]
    met: tuple[str, ...]
    not_judged: tuple[str, ...]


def judge(trace: Trace, metrics: dict[str, list[dict[str, Any]]]) -> Verdict:
    """Hold the stored series against the expectations of ``trace``."""
    series = _Series(trace, metrics)
    mismatches, met, not_judged = [], [], []
    for key, wanted in trace.expect.items():
        if key in _PROSE:
            continue
        if key not in _JUDGES:
            not_judged.append(key)
            continue
        got = _JUDGES[key](series, wanted)
        if got == wanted:
            met.append(key)
        else:
            mismatches.append(f"{key}: got {got}, want {wanted}")
    return Verdict(tuple(mismatches), tuple(met), tuple(not_judged))


class _Series:
    """The stored series, and which of them the trace's own calls mark as those of a rollout."""

    def __init__(self, trace: Trace, metrics: dict[str, list[dict[str, Any]]]) -> None:
        self.metrics = metrics
        self.rollout = {f"train_{name}" for name in _rollout_names(trace)}

    def of(self, name: str) -> list[int]:
        return [point["step"] for point in self.metrics.get(name, ())]

    def union(self, wanted: Callable[[str], bool]) -> list[int]:
        return sorted({step for name in self.metrics if wanted(name) for step in self.of(name)})

    def train_steps(self) -> list[int]:
        return self.union(
            lambda name: name.startswith("train_") and not name.startswith(_TIMING) and name not in self.rollout
        )

    def val_steps(self) -> list[int]:
        return self.union(lambda name: name.startswith("val_") and not name.startswith(_TIMING))

    def points(self) -> list[tuple[str, dict[str, Any]]]:
        return [(name, point) for name, points in self.metrics.items() for point in points]

    def doubled(self) -> list[str]:
        return [name for name in self.metrics if self.of(name) != sorted(set(self.of(name)))]

    def epochs(self) -> dict[str, Any]:
        seen: dict[str, set[int]] = {}
        for _, point in self.points():
            seen.setdefault(str(point["step"]), set()).add(point["epoch"])
        return {step: min(epochs) if len(epochs) == 1 else sorted(epochs) for step, epochs in seen.items()}

    def sets_stored(self, wanted: list[str]) -> list[str]:
        """The named sets, as many as have series of their own: the first has the bare names."""
        others = [each for each in wanted if any(each in name for name in self.metrics if name.startswith("val_"))]
        bare = [name for name in self.metrics if not any(each in name for each in wanted) and name.startswith("val_")]
        first = [each for each in wanted if each not in others][:1] if bare else []
        return sorted(first + others)


def _rollout_names(trace: Trace) -> set[str]:
    """Names of the train dicts that are not the last of their step in their process, and of a step that crashed."""
    names: set[str] = set()
    for calls in trace.processes:
        last: dict[int, set[str]] = {}
        for call in calls:
            if call["call"] == "log_metrics" and call.get("prefix") == "train":
                names |= last.get(call["step"], set())
                last[call["step"]] = set(call["metrics"])
    return names


_JUDGES: dict[str, Callable[[_Series, Any], Any]] = {
    "train_steps": lambda series, _: series.train_steps(),
    "val_steps": lambda series, _: series.val_steps(),
    "train_loss_steps": lambda series, _: series.of("train_loss"),
    "val_loss_steps": lambda series, _: series.of("val_loss"),
    "train_reward_steps": lambda series, _: series.of("train_reward"),
    "critic_loss_steps": lambda series, _: series.of("train_critic/loss"),
    "rollout_steps": lambda series, _: series.union(lambda name: name in series.rollout),
    "train_loss_points": lambda series, _: len(series.of("train_loss")),
    "val_loss_points": lambda series, _: len(series.of("val_loss")),
    # Once each, although two processes logged them.
    "duplicate_steps": lambda series, wanted: [step for step in wanted if series.of("train_loss").count(step) == 1],
    "one_point_per_series_and_step": lambda series, _: not series.doubled(),
    "must_have": lambda series, wanted: [name for name in wanted if series.of(name)],
    "epoch_of_step": lambda series, wanted: {step: series.epochs().get(step) for step in wanted},
    "val_sets": lambda series, wanted: wanted if series.sets_stored(wanted) == sorted(wanted) else series.val_steps(),
}
