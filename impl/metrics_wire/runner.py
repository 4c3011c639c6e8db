"""The runner of a job: the process around the driver, which writes the first and the last reports of its task."""

from __future__ import annotations

import collections
import logging
import signal
import subprocess
import sys
import threading
import traceback
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import FrameType

    from impl.metrics_wire.reporter import JobsServiceProgressReporter

_LOG = logging.getLogger(__name__)

_FORWARDED = (signal.SIGTERM, signal.SIGINT)
#: Lines at the end of the driver's stderr that go into the report of its failure.
_STACK_LINES = 60
#: Seconds for which stderr is read after the driver's end: what the driver has started may outlive it and hold it open.
_LAST_WORDS_S = 5.0


class _Stopped(BaseException):
    """A signal has come while there was no driver to forward it to."""


class TrainingRunner:
    """Runs the driver as a subprocess and reports around it.

    The driver is the only one that knows the curves; the reporter keeps what it has stored.

    Args:
        reporter: The task.
        command: The driver's command line.
        environment: The driver's environment, by default that of this process.
        process_checkpoint: What is done with the checkpoint after a training that succeeded.
    """

    def __init__(
        self,
        reporter: JobsServiceProgressReporter,
        command: Sequence[str],
        *,
        environment: Mapping[str, str] | None = None,
        process_checkpoint: Callable[[], object] | None = None,
    ) -> None:
        self._reporter = reporter
        self._command = list(command)
        self._environment = environment
        self._process_checkpoint = process_checkpoint
        self._received: int | None = None
        self._driver: subprocess.Popen[str] | None = None
        self._may_be_stopped = True

    def run(self) -> int:
        """Run the job to its end. Must be called in the main thread, for it forwards SIGTERM and SIGINT.

        Returns:
            Exit status: the driver's, or 128 + N after signal N.
        """
        with self._heeding_signals():
            try:
                self._reporter.report_running("compiling_config")
                status, stack = self._drive()
                if status == 0:
                    self._reporter.report_running("processing_checkpoint")
                    if self._process_checkpoint is not None:
                        self._process_checkpoint()
            except _Stopped:
                return self._report_stop()
            except Exception as error:
                self._may_be_stopped = False
                self._reporter.report_error(
                    f"{type(error).__name__}: {error}", error_stack=traceback.format_exc(limit=_STACK_LINES)
                )
                raise
            # The last report is written, whoever does not want to wait for it.
            self._may_be_stopped = False
            if status == 0:
                self._reporter.report_completed()
            elif self._received is not None:
                self._report_stop()
            else:
                self._reporter.report_error(
                    f"The training driver ended with exit status {status}",
                    error_stack=stack or None,
                    exit_status=status,
                )
            return status

    def _report_stop(self) -> int:
        assert self._received is not None  # noqa: S101 - a signal has come
        name = signal.Signals(self._received).name
        self._reporter.update_task("cancelled", status_details={"message": f"Training was stopped by {name}"})
        return 128 + self._received

    def _drive(self) -> tuple[int, str]:
        # A session of its own: a terminal would send an interrupt to the driver a second time.
        driver = subprocess.Popen(  # noqa: S603 - the command is the caller's own
            self._command,
            env=self._environment,
            stderr=subprocess.PIPE,
            text=True,
            errors="backslashreplace",
            start_new_session=True,
        )
        assert driver.stderr is not None  # noqa: S101 - it was asked for, above
        last_lines: collections.deque[str] = collections.deque(maxlen=_STACK_LINES)
        echo = threading.Thread(target=_echo, args=(driver.stderr, last_lines), daemon=True)
        self._driver = driver
        echo.start()
        status = driver.wait()
        self._driver = None
        echo.join(_LAST_WORDS_S)
        if echo.is_alive():
            _LOG.warning("processes that the training driver has started outlive it")
        return (128 - status if status < 0 else status), "".join(last_lines)

    @contextmanager
    def _heeding_signals(self) -> Iterator[None]:
        def heed(signum: int, _frame: FrameType | None) -> None:
            if self._driver is not None:
                _LOG.info("forwarding %s to the training driver", signal.Signals(signum).name)
                self._received = signum
                self._driver.send_signal(signum)
            elif self._may_be_stopped and self._received is None:
                self._received = signum
                raise _Stopped

        # What a shell made this process ignore, an interrupt in the background, its driver ignores too.
        heeded = [signum for signum in _FORWARDED if signal.getsignal(signum) is not signal.SIG_IGN]
        before = {signum: signal.signal(signum, heed) for signum in heeded}
        try:
            yield
        finally:
            for signum, handler in before.items():
                signal.signal(signum, handler)


def _echo(stderr: IO[str], last_lines: collections.deque[str]) -> None:
    with stderr:
        for line in stderr:
            last_lines.append(line)
            sys.stderr.write(line)
