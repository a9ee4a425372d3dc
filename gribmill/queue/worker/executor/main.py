"""An executor process: runs the handlers of batches that its supervisor sends, and reports. It has no database."""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import logging
import os
import signal
import socket
import sys
from types import FrameType
from typing import Any

from gribmill.logs import LogStyle, set_up_logging
from gribmill.queue.job_type import Registry
from gribmill.queue.model import Outcome
from gribmill.queue.worker.executor.die_with_parent import die_with_parent
from gribmill.queue.worker.executor.ipc import Channel, claimed_from_message
from gribmill.queue.worker.outcome_message import outcome_to_message
from gribmill.queue.worker.task import Batch, Task, run_batch

log = logging.getLogger("gribmill.executor")


class Terminated(BaseException):
    """Raised on SIGTERM, so that handlers can remove temporary files before the process exits."""


class Executor:
    """The executor's side of the channel."""

    def __init__(self, channel: Channel, types: Registry, worker_id: str, environment: dict[str, Any]) -> None:
        self._channel = channel
        self._types = types
        self._worker_id = worker_id
        self._environment = environment

    def run(self) -> None:
        """Run batches until the supervisor asks it to exit or is gone."""
        self._channel.send({"ready": True})
        while (message := self._channel.receive()) is not None and "run" in message:
            _undo_what_handlers_do()
            tasks = self._tasks(message["run"])
            run_batch(self._types, Batch(tasks, self._report, self._top_up))

    def _report(self, task: Task, outcome: Outcome) -> None:
        # Flush the job's output before its report: the supervisor reads them in that order.
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError, AttributeError):  # the handler may have closed it
                stream.flush()
        ref = {"job_id": task.job_id, "attempt_no": task.attempt_no}
        self._channel.send({"report": {**ref, "outcome": outcome_to_message(outcome)}})

    def _top_up(self, limit: int) -> list[Task]:
        self._channel.send({"top_up": limit})
        message = self._channel.receive()
        if message is None:
            raise Terminated
        return self._tasks(message["siblings"])

    def _tasks(self, jobs: list[dict[str, Any]]) -> list[Task]:
        return [Task.of(claimed_from_message(job), self._worker_id, self._environment) for job in jobs]


def _on_terminate(signum: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise Terminated


def _undo_what_handlers_do() -> None:
    """Restore signal handlers and line-buffered output, which a handler may have changed."""
    signal.signal(signal.SIGTERM, _on_terminate)
    for name, fd in (("stdout", 1), ("stderr", 2)):
        with contextlib.suppress(OSError):  # closed by a handler: the supervisor notices and replaces this process
            stream = os.fdopen(fd, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)
            setattr(sys, name, stream)


def main() -> None:
    """`python -m gribmill.queue.worker.executor.main FD PARENT_PID`."""
    fd, parent = int(sys.argv[1]), int(sys.argv[2])
    die_with_parent()
    if os.getppid() != parent:
        sys.exit("the supervisor died before the executor was up")
    faulthandler.enable()  # prints a traceback when native code crashes
    signal.signal(signal.SIGTERM, _on_terminate)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the supervisor
    os.set_inheritable(fd, False)
    channel = Channel(socket.socket(fileno=fd))
    start = channel.receive()
    if start is None:
        return
    _set_up(start)
    module, _, name = start["types"].partition(":")
    types: Registry = getattr(importlib.import_module(module), name)
    try:
        Executor(channel, types, start["worker_id"], start["environment"]).run()
    except (Terminated, ConnectionError):
        sys.exit(128 + signal.SIGTERM)


def _set_up(start: dict[str, Any]) -> None:
    set_up_logging(LogStyle(**start["log"]))
    os.nice(start["nice"])


if __name__ == "__main__":
    main()
