"""A logger as it was before its bugs were fixed: the contract finds each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx
import pytest

from contracts import ContractFailure, NotDeclared, metrics_wire

if TYPE_CHECKING:
    from collections.abc import Mapping


class LoggerBeforeTheFix:
    """Counts from 0, wants a loss, knows a list of names, replaces the curve by its last point, and has no end."""

    def __init__(self, task_url: str, schedule: Mapping[str, int | None]) -> None:
        self.task_url = task_url
        self.max_steps = schedule["max_steps"] or 0
        self.interval = (schedule["val_period"] or 0) // 10 + 1

    def log_metrics(
        self,
        metrics: dict[str, Any],
        step: int,
        prefix: str = "",
        step_metric: str | None = None,  # noqa: ARG002 - NeMo-RL's interface
        step_finished: bool = False,  # noqa: ARG002, FBT001, FBT002 - NeMo-RL's interface
    ) -> None:
        step = step + 1
        phase = {"train": "train", "validation": "val"}.get(prefix)
        if phase is None or "loss" not in metrics or (phase == "train" and step % self.interval):
            return
        known = {f"{phase}_{name}": metrics[name] for name in ("loss", "lr", "grad_norm") if name in metrics}
        details = {
            "phase": "training",
            "step": step,
            "epoch": 1,
            **known,
            "metrics": {f"{phase}_loss": [{"step": step, "epoch": 1, "value": metrics["loss"]}]},
        }
        httpx.put(self.task_url, json={"status": "active", "status_details": details})

    def log_hyperparams(self, params: dict[str, Any]) -> None:  # noqa: ARG002 - NeMo-RL's interface
        httpx.put(self.task_url, json={"status": "active", "status_details": {"phase": "training"}})

    def log_histogram(self, histogram: Any, step: int, name: str) -> None: ...

    def log_plot(self, figure: Any, step: int, name: str) -> None: ...

    def finish(self) -> None: ...

    def close(self) -> None: ...


class AdapterBeforeTheFix:
    name = "before the fix"
    version = "0"
    capabilities = frozenset({"reports_to_service"})
    close_deadline_s = 1.0
    placeholder_job = "placeholder"

    def start(self, task_url: str, schedule: Mapping[str, int | None], **_options: Any) -> LoggerBeforeTheFix:
        return LoggerBeforeTheFix(task_url, schedule)


@pytest.mark.parametrize(
    ("check_id", "words"),
    [
        ("MW-101", "train steps are not stored as they were logged"),
        ("MW-102", "the validation before training is misplaced"),
        ("MW-105", "percentage_done is not exact"),
        ("MW-201", "metrics were not forwarded"),
        ("MW-401", "a validation without a loss is not reported"),
        ("MW-402", "the dicts of a step are not one step"),
        ("MW-501", "a closed run is not complete"),
        ("MW-611", "the curve is not continued"),
        ("MW-703", "a slow service blocks the loop"),
        ("MW-704", "another rank reports"),
    ],
)
def test_a_known_bug_is_found(check_id: str, words: str) -> None:
    check = metrics_wire.logger[check_id]
    with pytest.raises(ContractFailure, match=words) as caught:
        check.verify(AdapterBeforeTheFix(), case=check.examples[0])
    assert caught.value.code == check_id


@pytest.mark.parametrize("check_id", ["MW-511", "MW-521", "MW-601", "MW-621", "MW-802"])
def test_what_an_adapter_does_not_declare_is_not_asked_of_it(check_id: str) -> None:
    with pytest.raises(NotDeclared):
        metrics_wire.logger[check_id].verify(AdapterBeforeTheFix())
