"""The progress callbacks of the two algorithms: they differ in the name of their backend alone."""

from __future__ import annotations

from typing import ClassVar

from impl.metrics_wire.callback import TrainingProgressCallback


class GrpoTrainingProgressCallback(TrainingProgressCallback):
    """Progress of a GRPO run."""

    backend: ClassVar[str | None] = "nemo_rl.grpo"


class DpoTrainingProgressCallback(TrainingProgressCallback):
    """Progress of a DPO run."""

    backend: ClassVar[str | None] = "nemo_rl.dpo"
