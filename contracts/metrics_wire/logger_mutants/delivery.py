"""Defects of the delivery."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contracts.metrics_wire.cases import Throttled
from contracts.metrics_wire.logger_mutants.tampering import CallMutant, TamperedLogger, per_call
from contracts.metrics_wire.sides import logger

if TYPE_CHECKING:
    from collections.abc import Mapping


def _due_only(self: TamperedLogger, metrics: Any, step: Any, prefix: str, *rest: Any) -> None:
    if prefix != "train" or step % self.interval == 0:
        self.inner.log_metrics(metrics, step, prefix, *rest)


@logger.mutant("MW-M501a", killed_by="MW-501")
class DropsWhatIsNotDue(CallMutant):
    """drops a train step that no report is due for"""

    logger_class = per_call(_due_only)


@logger.mutant("MW-M501b", killed_by="MW-501", witness=Throttled(steps=3, validates=False, end="finish"))
class HasNoFinish(CallMutant):
    """hands on what it withheld when it is closed, and does nothing when the composite logger finishes it"""

    class Endless(TamperedLogger):
        """Withholds the last call, and is only closed."""

        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            self.withheld: list[Any] = []

        def log_metrics(self, *call: Any) -> None:
            """Hand on the call before this one."""
            self.withheld.append(call)
            if len(self.withheld) > 1:
                self.inner.log_metrics(*self.withheld.pop(0))

        def finish(self) -> None:
            """Nothing."""

        def close(self) -> None:
            """Hand on the last call."""
            for call in self.withheld:
                self.inner.log_metrics(*call)
            self.inner.close()

    logger_class = Endless


@logger.mutant("MW-M502a", killed_by="MW-502")
class ClosesTwice(CallMutant):
    """raises when it is closed a second time"""

    class Once(TamperedLogger):
        """Ends once."""

        is_closed = False

        def close(self) -> None:
            """Refuse the second time."""
            if self.is_closed:
                raise RuntimeError("the client is closed")
            self.is_closed = True
            self.inner.close()

        finish = close

    logger_class = Once


@logger.mutant("MW-M505a", killed_by="MW-505")
class OpensAgain(CallMutant):
    """begins anew when it is called after its end"""

    class Reopening(TamperedLogger):
        """Begins anew."""

        is_closed = False

        def finish(self) -> None:
            """End."""
            self.is_closed = True
            self.inner.finish()

        def close(self) -> None:
            """End."""
            self.is_closed = True
            self.inner.close()

        def log_metrics(self, *call: Any) -> None:
            """Log, with a new logger if it has ended."""
            if self.is_closed:
                self.is_closed, self.inner = False, self.mutant.again()
            self.inner.log_metrics(*call)

    logger_class = Reopening

    def start(self, task_url: str, schedule: Mapping[str, int | None], **options: Any) -> Any:
        """Remember how it was started."""
        self.again = lambda: self.inner.start(task_url, schedule, **options)
        return super().start(task_url, schedule, **options)


@logger.mutant("MW-M503a", killed_by="MW-503")
class RaisesWhenCollected(CallMutant):
    """raises when it is collected"""

    class Fragile(TamperedLogger):
        """Uses what is torn down."""

        def __del__(self) -> None:
            raise AttributeError("'NoneType' object has no attribute 'post'")

    logger_class = Fragile


@logger.mutant("MW-M504a", killed_by="MW-504")
class ThrottlesEverything(CallMutant):
    """withholds a validation until a train step is due"""

    class Throttling(TamperedLogger):
        """Holds validations."""

        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            self.held: list[Any] = []

        def log_metrics(self, metrics: Any, step: Any, prefix: str = "", *rest: Any) -> None:
            """Hold a validation; let them all go with a due step."""
            if prefix == "validation" and step % self.interval:
                self.held.append((dict(metrics), step, prefix, *rest))
                return
            self._let_go()
            self.inner.log_metrics(metrics, step, prefix, *rest)

        def close(self) -> None:
            """Let them go."""
            self._let_go()
            self.inner.close()

        def _let_go(self) -> None:
            while self.held:
                self.inner.log_metrics(*self.held.pop(0))

    logger_class = Throttling
