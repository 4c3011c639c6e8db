"""A run as a state machine: whatever can happen to it, and a model of what must be stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from contracts.metrics_wire.bench import Bench
from contracts.metrics_wire.probe import Fault
from contracts.metrics_wire.protocols import Schedule
from contracts.metrics_wire.services import Service

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.failure import ContractFailure
    from contracts.metrics_wire.protocols import LoggerAdapter

SCHEDULE = Schedule(max_steps=200, num_epochs=4, val_period=20, steps_per_epoch=50)

_Values = dict[tuple[str, int], float]


class Training(RuleBasedStateMachine):
    """A run that logs, validates, loses its service, is closed or killed, and is taken over.

    Attributes:
        adapter: Whose loggers train; set by a subclass.
        check: Which check fails; set by a subclass.
        failures: What has failed in any run of the machine; set by a subclass.
        history: What has happened.
        certain: Values that must be stored.
        logged: Values that the present process has logged, which must be stored once it is closed.
    """

    adapter: ClassVar[LoggerAdapter]
    check: ClassVar[Check[LoggerAdapter]]
    failures: ClassVar[list[ContractFailure]]

    def __init__(self) -> None:
        super().__init__()
        self.history: list[str] = []
        self.certain: _Values = {}
        self.logged: _Values = {}
        self.value = 0.0
        self.step = 0
        self.process: Any = None
        self.bench = Bench(self.adapter, Service.REPLACE)
        self.is_failing = False

    @initialize(service=st.sampled_from(list(Service)))
    def begin(self, service: Service) -> None:
        """A run begins."""
        self.bench = Bench(self.adapter, service)
        self.bench.__enter__()
        self.history.append(f"begin under {service}")
        self.process = self.bench.process(SCHEDULE)

    @rule(count=st.integers(1, 4))
    def train(self, count: int) -> None:
        """A few train steps, each with its rollout."""
        for _ in range(count):
            self.step += 1
            self._log("turns", "train", self.step)
            self._log("loss", "train", self.step)

    @rule()
    def roll_out(self) -> None:
        """A rollout whose step does not follow."""
        self._log("turns", "train", self.step + 1)

    @rule(name=st.sampled_from(["loss", "accuracy"]))
    def validate(self, name: str) -> None:
        """A validation, with a loss or without."""
        self._log(name, "validation", self.step)

    @precondition(lambda self: "events" in self.adapter.capabilities)
    @rule(event=st.sampled_from(["training_start", "epoch_end", "checkpoint_saved"]))
    def report(self, event: Literal["training_start", "epoch_end", "checkpoint_saved"]) -> None:
        """An event that brings no observation."""
        arguments = {"training_start": (), "epoch_end": (self.step,), "checkpoint_saved": (self.step, "/c")}[event]
        getattr(self.process, event)(*arguments)
        self.history.append(f"{event}{arguments}")

    @precondition(lambda self: not self.is_failing)
    @rule(kind=st.sampled_from(["answer", "drop", "lose"]), method=st.sampled_from(["GET", "PUT", "POST"]))
    def fail(self, kind: Literal["answer", "drop", "lose"], method: str) -> None:
        """The service begins to fail."""
        self.bench.probe.faults.arm(Fault(kind, 500, methods=(method,)))
        self.is_failing = True
        self.history.append(f"the service fails: {kind} at {method}")

    @precondition(lambda self: self.is_failing)
    @rule()
    def recover(self) -> None:
        """The service recovers."""
        self.bench.probe.faults.clear()
        self.is_failing = False
        self.history.append("the service recovers")

    @rule(back=st.integers(0, 3))
    def close_and_resume(self, back: int) -> None:
        """The process ends, and another one takes over from a checkpoint."""
        self._close()
        self._take_over(back)

    @rule(back=st.integers(0, 3))
    def kill_and_resume(self, back: int) -> None:
        """The process is killed: what was acknowledged stays, what was not is gone."""
        self.bench.kill(self.process)
        self.history.append("SIGKILL")
        stored = self._stored()
        self.certain |= {key: value for key, value in self.logged.items() if stored.get(key) == value}
        self.logged.clear()
        self._take_over(back)

    def teardown(self) -> None:
        """The run ends, and everything must be stored."""
        if self.process is None:
            return
        try:
            self._close()
        finally:
            self.bench.__exit__(None, None, None)

    def _log(self, name: str, prefix: str, step: int) -> None:
        self.value += 1.0
        series = f"{'val' if prefix == 'validation' else 'train'}_{name}"
        self.logged[series, step] = self.value
        self.process.log_metrics({name: self.value}, step, prefix)
        self.history.append(f"L({prefix!r}, {step}, {{{name!r}: {self.value}}})")

    def _close(self) -> None:
        self.bench.probe.faults.clear()
        self.is_failing = False
        self.process.close()
        self.history.append("close")
        self.certain |= self.logged
        self.logged.clear()
        stored = self._stored()
        wrong = {f"{name}@{step}": stored.get((name, step)) for (name, step) in self.certain}
        want = {f"{name}@{step}": value for (name, step), value in self.certain.items()}
        wrong = {key: value for key, value in wrong.items() if value != want[key]}
        if wrong:
            right = {key: want[key] for key in wrong}
            self._fail("what is stored is not what was logged", got=wrong, want=right)
        if self.bench.vanished:
            self._fail("stored points vanished", got=self.bench.vanished, want=[])

    def _fail(self, message: str, *, got: object, want: object) -> NoReturn:
        failure = self.check.fail(message, got=got, want=want, events=self.history)
        self.failures.append(failure)
        raise failure

    def _take_over(self, back: int) -> None:
        self.step = max(0, self.step - back)
        self.history.append(f"another process takes over at step {self.step}")
        self.process = self.bench.process(SCHEDULE)

    def _stored(self) -> dict[tuple[str, int], Any]:
        return {(name, step): value for name in self.bench.series for step, value in self.bench.values(name).items()}
