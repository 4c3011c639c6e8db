"""Train a line through points, log it as a NeMo-RL loop does, and read the curve back from the Jobs service.

python examples/train_and_chart.py
"""

from contracts.metrics_wire.composite import Composite
from contracts.metrics_wire.probe import Probe
from impl.metrics_wire.logger import NemoRLLogger
from impl.metrics_wire.reporter import JobsServiceProgressReporter
from impl.metrics_wire.run import run_grpo

STEPS, VAL_PERIOD = 40, 10
POINTS = [(x / 32, 3 * x / 32 + 1) for x in range(-32, 33)]


def train(composite: Composite) -> None:
    """Find the line by gradient descent: y = 3 x + 1."""
    slope = offset = 0.0
    for step in range(1, STEPS + 1):
        errors = [(slope * x + offset - y, x) for x, y in POINTS]
        slope -= 0.6 * sum(error * x for error, x in errors) / len(POINTS)
        offset -= 0.6 * sum(error for error, _ in errors) / len(POINTS)
        if step % VAL_PERIOD == 0:
            composite.log_metrics({"accuracy": 1 - abs(slope - 3) / 3}, step, "validation")
        composite.log_metrics({"loss": sum(error**2 for error, _ in errors) / len(POINTS)}, step, "train")


with Probe() as service:
    reporter = JobsServiceProgressReporter(service.task_url())
    logger = NemoRLLogger.for_schedule(STEPS, num_epochs=2, val_period=VAL_PERIOD, reporter=reporter)
    composite = Composite()
    run_grpo(lambda: train(composite), composite, logger)
    curves = JobsServiceProgressReporter(service.task_url()).fetch_current_metrics()

for name, points in curves.items():
    print(f"{name:16} {len(points):3} points, last {points[-1] if points else '-'}")
