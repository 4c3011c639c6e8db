"""MLflow's tracking client as a logger, on a SQLite store of its own."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any

from backend_logger import BackendAdapter, BackendLogger, Stored
from mlflow.tracking import MlflowClient


class MlflowLogger(BackendLogger):
    """``log_metric`` for every value."""

    def __init__(self, client: MlflowClient, run: str) -> None:
        self.client, self.run = client, run

    def hand_on(self, values: dict[str, Any], step: Any) -> None:
        """Log every value."""
        for tag, value in values.items():
            self.client.log_metric(self.run, tag, value, step=step)

    def end(self) -> None:
        """Terminate the run."""
        self.client.set_terminated(self.run)


class MlflowAdapter(BackendAdapter):
    """One run a task, read as MLflow's own charts read it: by the history of each metric."""

    name = "mlflow MlflowClient"
    version = version("mlflow-skinny")

    def __init__(self) -> None:
        super().__init__()
        self.client = MlflowClient(tracking_uri=f"sqlite:///{Path(self.folder, 'mlflow.db')}")
        self.experiment = self.client.create_experiment("contracts")
        self.runs: dict[str, str] = {}

    def logger(self, task: str) -> BackendLogger:
        """A logger to the task's run."""
        if task not in self.runs:
            self.runs[task] = self.client.create_run(self.experiment, run_name=task).info.run_id
        return MlflowLogger(self.client, self.runs[task])

    def read(self, task: str) -> Stored:
        """The history of every metric of the task's run."""
        if task not in self.runs:
            return {}
        run = self.runs[task]
        return {
            tag: [{"step": m.step, "value": m.value} for m in self.client.get_metric_history(run, tag)]
            for tag in self.client.get_run(run).data.metrics
        }
