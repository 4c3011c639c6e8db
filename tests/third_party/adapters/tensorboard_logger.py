"""TensorBoard as a logger: PyTorch's `SummaryWriter`, accelerate's tracker around it, and transformers' callback."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any

from accelerate import PartialState
from accelerate.tracking import TensorBoardTracker
from backend_logger import BackendAdapter, BackendLogger, Stored
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from torch.utils.tensorboard import SummaryWriter
from transformers import TrainerControl, TrainerState
from transformers.integrations import TensorBoardCallback

EVERY_POINT = {"scalars": 0}


class SummaryWriterLogger(BackendLogger):
    """``add_scalar`` for every value."""

    def __init__(self, folder: Path) -> None:
        self.writer = SummaryWriter(str(folder))

    def hand_on(self, values: dict[str, Any], step: Any) -> None:
        """Add scalars."""
        for tag, value in values.items():
            self.writer.add_scalar(tag, value, step)

    def end(self) -> None:
        """Close the writer."""
        self.writer.close()


class TrackerLogger(BackendLogger):
    """accelerate's tracker, which takes a whole dict."""

    def __init__(self, folder: Path) -> None:
        PartialState(cpu=True)
        self.tracker = TensorBoardTracker(folder.name, str(folder.parent))
        self.tracker.start()

    def hand_on(self, values: dict[str, Any], step: Any) -> None:
        """Log the dict."""
        self.tracker.log(values, step=step)

    def end(self) -> None:
        """Finish the tracker."""
        self.tracker.finish()


class CallbackLogger(BackendLogger):
    """transformers' callback, which takes a whole dict and puts every name under ``train``."""

    def __init__(self, folder: Path) -> None:
        self.callback = TensorBoardCallback(SummaryWriter(str(folder)))
        # The beginning of a training sets it; without it, what is logged after the end goes to ./runs.
        self.callback.logging_dir = str(folder)

    def hand_on(self, values: dict[str, Any], step: Any) -> None:
        """Log the dict."""
        self.callback.on_log(None, TrainerState(global_step=step), TrainerControl(), logs=values)

    def end(self) -> None:
        """The training ends."""
        self.callback.on_train_end(None, TrainerState(), TrainerControl())


class TensorBoardAdapter(BackendAdapter):
    """`SummaryWriter` as it is by default, read by TensorBoard's own reader."""

    name = "tensorboard SummaryWriter"
    version = f"{version('tensorboard')} (torch {version('torch')})"

    def logger(self, task: str) -> BackendLogger:
        """A writer in the task's folder."""
        return SummaryWriterLogger(Path(self.folder, task))

    def read(self, task: str) -> Stored:
        """Every scalar of the task's folder."""
        folder = Path(self.folder, task)
        if not folder.is_dir():
            return {}
        events = EventAccumulator(str(folder), size_guidance=EVERY_POINT).Reload()
        return {
            tag: [{"step": event.step, "value": event.value} for event in events.Scalars(tag)]
            for tag in events.Tags()["scalars"]
        }


class AccelerateAdapter(TensorBoardAdapter):
    """accelerate's `TensorBoardTracker`, which decides itself what of a dict it logs."""

    name = "accelerate TensorBoardTracker"
    version = f"{version('accelerate')} (tensorboard {version('tensorboard')})"

    def logger(self, task: str) -> BackendLogger:
        """A tracker in the task's folder."""
        return TrackerLogger(Path(self.folder, task))


class TransformersAdapter(TensorBoardAdapter):
    """transformers' `TensorBoardCallback`, which decides itself what of a dict it logs."""

    name = "transformers TensorBoardCallback"
    version = f"{version('transformers')} (tensorboard {version('tensorboard')})"

    def logger(self, task: str) -> BackendLogger:
        """A callback on a writer in the task's folder."""
        return CallbackLogger(Path(self.folder, task))

    def read(self, task: str) -> Stored:
        """Every scalar, without the prefix that the callback puts before all of them."""
        return {tag.removeprefix("train/"): points for tag, points in super().read(task).items()}
