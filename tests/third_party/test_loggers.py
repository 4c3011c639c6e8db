"""Public logger backends: TensorBoard's writer, what accelerate and transformers make of it, and MLflow's client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from contracts import KnownFailure
from contracts.metrics_wire import logger

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mlflow_logger import MlflowAdapter
    from tensorboard_logger import AccelerateAdapter, TensorBoardAdapter, TransformersAdapter

    from contracts import Check

pytestmark = [
    pytest.mark.third_party("tensorboard", "accelerate", "transformers", "mlflow", "sqlalchemy"),
    # Others' deprecations are theirs.
    pytest.mark.filterwarnings("default"),
]
TENSORBOARD = {
    "MW-202": KnownFailure(
        "SummaryWriter.add_scalar raises for what is no scalar, NotImplementedError for None, lists, dicts and "
        "histograms and AssertionError for a tensor of two elements, so whoever hands it a loop's dict must filter it.",
        issue="pytorch/pytorch, not reported yet",
    )
}
ACCELERATE = {
    "MW-202": KnownFailure(
        "TensorBoardTracker.log hands a dict to add_scalars, which joins its keys to a path: {0: [1, 2]} raises "
        "TypeError('can only concatenate str (not \"int\") to str') into the loop.",
        issue="huggingface/accelerate, not reported yet",
    ),
    "MW-203": KnownFailure(
        "TensorBoardTracker.log adds a scalar only for instances of int and float: np.float32(0.5), np.int64(7) and "
        "0-d arrays leave no point and no word in the log.",
        issue="huggingface/accelerate, not reported yet",
    ),
}
TRANSFORMERS = {
    "MW-203": KnownFailure(
        "TensorBoardCallback.on_log adds a scalar only for instances of int and float: np.float32(0.5), np.int64(7), "
        "0-d arrays and 0-d tensors leave no point, though a warning.",
        issue="huggingface/transformers, not reported yet",
    )
}
MLFLOW = {
    "MW-106": KnownFailure(
        "MlflowClient.log_metric takes step=np.int64(2), its SQLite store keeps it as bytes, and the next step of the "
        "same metric raises MlflowException(\"'>' not supported between instances of 'int' and 'bytes'\").",
        issue="mlflow/mlflow, not reported yet",
    ),
    "MW-201": KnownFailure(
        "MlflowClient.log_metric raises MlflowException for a metric whose name holds anything but letters, digits, "
        "spaces and _-.:/, such as 'train/{', and takes the loop with it.",
        issue="mlflow/mlflow, not reported yet",
    ),
    "MW-304": KnownFailure(
        "MlflowClient.log_metric raises MlflowException for 'validation-first/@a/loss', as it does for every name with "
        "such a letter, and for one that would be another as a path, 'validation-0//'.",
        issue="mlflow/mlflow, not reported yet",
    ),
    "MW-202": KnownFailure(
        "MlflowClient.log_metric raises for what is no number, MlflowException for None and TypeError for lists, dicts "
        "and histograms, so whoever hands it a loop's dict must filter it.",
        issue="mlflow/mlflow, not reported yet",
    ),
}


class TestTensorBoard:
    @pytest.fixture(scope="class")
    def adapter(self) -> Iterator[TensorBoardAdapter]:
        from tensorboard_logger import TensorBoardAdapter  # noqa: PLC0415 - only where it is installed

        found = TensorBoardAdapter()
        yield found
        found.close()

    @logger.parametrize(known_failures=TENSORBOARD)
    def test_check(self, adapter: TensorBoardAdapter, check: Check[Any]) -> None:
        check.verify(adapter)


class TestAccelerate:
    @pytest.fixture(scope="class")
    def adapter(self) -> Iterator[AccelerateAdapter]:
        from tensorboard_logger import AccelerateAdapter  # noqa: PLC0415 - only where it is installed

        found = AccelerateAdapter()
        yield found
        found.close()

    @logger.parametrize(known_failures=ACCELERATE)
    def test_check(self, adapter: AccelerateAdapter, check: Check[Any]) -> None:
        check.verify(adapter)


class TestTransformers:
    @pytest.fixture(scope="class")
    def adapter(self) -> Iterator[TransformersAdapter]:
        from tensorboard_logger import TransformersAdapter  # noqa: PLC0415 - only where it is installed

        found = TransformersAdapter()
        yield found
        found.close()

    @logger.parametrize(known_failures=TRANSFORMERS)
    def test_check(self, adapter: TransformersAdapter, check: Check[Any]) -> None:
        check.verify(adapter)


class TestMlflow:
    @pytest.fixture(scope="class")
    def adapter(self) -> Iterator[MlflowAdapter]:
        from mlflow_logger import MlflowAdapter  # noqa: PLC0415 - only where it is installed

        found = MlflowAdapter()
        yield found
        found.close()

    @logger.parametrize(known_failures=MLFLOW)
    def test_check(self, adapter: MlflowAdapter, check: Check[Any]) -> None:
        check.verify(adapter)
