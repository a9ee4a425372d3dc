"""The executors of a worker by lane: starting, listening, stopping, reaping."""

from __future__ import annotations

import contextlib
import logging
import selectors
import signal
import sys
import time
from collections.abc import Callable, Sequence
from typing import IO, Any

from gribmill.queue.errors import QueueError
from gribmill.queue.model import AttemptRef, Claimed, Failed, Outcome, Report, exit_code_of
from gribmill.queue.redact import redact, redacted
from gribmill.queue.worker.executor.handle import ExecutorHandle, StartMessage, describe_exit
from gribmill.queue.worker.executor.ipc import BadMessage
from gribmill.queue.worker.executor.lane import Lane
from gribmill.queue.worker.options import WorkerOptions
from gribmill.queue.worker.outcome_message import outcome_from_message

log = logging.getLogger("gribmill.worker")

MEMORY_CHECK_SECONDS = 1.0
# A process that closed its channel exits shortly after, and nothing signals its exit.
EXIT_LOOK_SECONDS = 0.01


class ExecutorPool:
    """All executor processes. Turns their messages, or their death, into reports."""

    def __init__(
        self,
        lanes: Sequence[Lane],
        options: WorkerOptions,
        worker_id: str,
        selector: selectors.BaseSelector,
        top_up: Callable[[ExecutorHandle, int], None],
    ) -> None:
        self.lanes = lanes
        self.ending: dict[AttemptRef, Claimed] = {}
        """Jobs whose reports are not stored yet."""
        self.options = options
        self.worker_id = worker_id
        self._selector = selector
        self._top_up = top_up

    @property
    def executors(self) -> list[ExecutorHandle]:
        return [executor for lane in self.lanes for executor in lane.executors]

    @property
    def busy(self) -> int:
        """The number of busy executors."""
        return sum(bool(executor.batch) for executor in self.executors)

    def spawn_missing(self) -> None:
        for lane in self.lanes:
            while lane.missing > 0 and lane.may_spawn:
                self._spawn(lane)

    def _spawn(self, lane: Lane) -> None:
        options = self.options
        start = StartMessage(options.types_path, self.worker_id, lane.nice, options.log, options.environment)
        try:
            executor = ExecutorHandle.spawn(start)
        except OSError as error:
            lane.note_death()
            log.error("an executor of lane %s cannot be started: %s", lane.name, error)
            return
        lane.executors.append(executor)
        self._selector.register(executor.channel, selectors.EVENT_READ, lambda: self._on_channel(executor))
        for pipe in executor.outputs:
            self._selector.register(pipe, selectors.EVENT_READ, self._drainer(executor, pipe))

    def _drainer(self, executor: ExecutorHandle, pipe: IO[bytes]) -> Callable[[], None]:
        return lambda: self._take_output(executor, pipe)

    def watch_channels(self) -> None:
        """Watch executors that still have data to read."""
        for executor in [executor for executor in self.executors if not executor.hung_up]:
            key = self._selector.get_key(executor.channel)
            wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if executor.channel.clogged else 0)
            if key.events != wanted:
                self._selector.modify(executor.channel, wanted, key.data)

    def _on_channel(self, executor: ExecutorHandle) -> list[Report]:
        """Handle an executor's messages, or its disappearance."""
        executor.channel.flush()
        reports: list[Report] = []
        try:
            messages, alive = executor.channel.receive_ready()
            for message in messages:
                reports += self._on_message(executor, message)
        except (BadMessage, KeyError, TypeError, ValueError) as error:
            executor.fault = f"it sent nonsense ({error})"
            executor.signal_group(signal.SIGKILL)
            alive = False
        if not alive:
            self._selector.unregister(executor.channel)
            executor.note_hang_up()
        return reports

    def _on_message(self, executor: ExecutorHandle, message: dict[str, Any]) -> list[Report]:
        if "ready" in message:
            executor.note_ready()
        elif "top_up" in message:
            self._top_up(executor, int(message["top_up"]))
        elif "report" in message:
            return self._report(executor, message["report"])
        return []

    def _report(self, executor: ExecutorHandle, message: dict[str, Any]) -> list[Report]:
        for pipe in list(executor.outputs):
            self._take_output(executor, pipe)
        ref = AttemptRef(message["job_id"], message["attempt_no"])
        if ref not in executor.batch or ref in executor.reported:
            raise BadMessage(f"a report on job {ref.job_id}, which it does not hold")
        try:
            outcome: Outcome = outcome_from_message(message["outcome"])
        except QueueError as error:
            outcome = Failed(str(error), permanent=True)
        executor.note_report(ref)
        if executor.done:
            self._end_output(executor)
        self.ending[ref] = executor.batch[ref]
        tails = (executor.stdout.text(), executor.stderr.text())
        return [Report(ref, redacted(outcome), exit_code_of(outcome), *tails, executor.log_of(ref))]

    def reap(self) -> list[Report]:
        """Reap executors that have ended, even if their children keep the channel open."""
        reports: list[Report] = []
        for lane in self.lanes:
            for executor in [executor for executor in lane.executors if executor.dead]:
                if not executor.hung_up:
                    reports += self._on_channel(executor)  # its last messages still count
                reports += self.bury(lane, executor)
        return reports

    def bury(self, lane: Lane, executor: ExecutorHandle) -> list[Report]:
        """Report the attempts of a dead executor, and make room for a new one."""
        code = executor.reap()
        for pipe in list(executor.outputs):
            self._take_output(executor, pipe)
        self._end_output(executor)
        for pipe in executor.outputs:
            self._selector.unregister(pipe)
        if not executor.hung_up:
            self._selector.unregister(executor.channel)
        executor.close()
        lane.executors.remove(executor)
        if not executor.asked_to_end:
            lane.note_death()
            log.error("an executor of lane %s died: %s", lane.name, executor.fault or describe_exit(code))
        stdout, stderr = executor.stdout.text(), executor.stderr.text()
        reports = []
        for ref, job in executor.batch.items():
            outcome = None if ref in executor.reported else executor.outcome_of_death(ref, code)
            if outcome is not None:
                self.ending[ref] = job
                reports.append(Report(ref, outcome, code, stdout, stderr, executor.log_of(ref)))
        return reports

    def _take_output(self, executor: ExecutorHandle, pipe: IO[bytes]) -> None:
        """Add its output to its tails and its log, and copy stderr to our own."""
        if pipe not in executor.outputs or pipe.closed:
            return
        text, more_may_come = executor.read_output(pipe)
        self._keep_lines(executor, pipe, executor.lines[pipe].add(text, last=not more_may_come))
        if not more_may_come:
            self._selector.unregister(pipe)
            del executor.outputs[pipe]
            executor.mute = True

    def _keep_lines(self, executor: ExecutorHandle, pipe: IO[bytes], lines: bytes) -> None:
        output_log = executor.log if executor.log and not executor.log.closed else None
        on_stderr = pipe is executor.process.stderr
        if not lines or not (output_log or on_stderr):
            return
        clean = redact(lines.decode("utf-8", "replace")).encode()
        if output_log:
            output_log.write(clean)
        if on_stderr:
            with contextlib.suppress(OSError, ValueError, AttributeError):  # our own stderr is closed
                sys.stderr.buffer.write(clean)
                sys.stderr.buffer.flush()

    def _end_output(self, executor: ExecutorHandle) -> None:
        """End the output of a batch; an unterminated last line counts as complete."""
        for pipe, lines in executor.lines.items():
            if rest := lines.add(b"", last=True):
                self._keep_lines(executor, pipe, rest + b"\n")
        if executor.log:
            executor.log.close()

    def too_old(self, executor: ExecutorHandle) -> bool:
        # Leftover children of a command are killed with the executor's process group.
        if any(job.command for job in executor.batch.values()):
            return True
        if executor.mute or executor.jobs_done + len(executor.batch) >= self.options.max_jobs_per_executor:
            return True
        now = time.monotonic()
        if now < executor.started + MEMORY_CHECK_SECONDS:
            return False
        return executor.memory_mb() > self.options.max_memory_mb

    def kill_busy(self) -> int:
        """Called by the lease watchdog from its own thread; only sends signals."""
        executors = [executor for lane in self.lanes for executor in list(lane.executors)]
        busy = [executor for executor in executors if executor.batch]
        for executor in busy:
            executor.stop_reason = executor.stop_reason or "silent"
            executor.signal_group(signal.SIGKILL)
        return len(busy)

    def stop_overdue(self) -> None:
        now = time.monotonic()
        for executor in self.executors:
            if executor.deadline is not None and now >= executor.deadline:
                executor.deadline = None
                executor.stop("timeout", self.options.kill_grace_seconds)
            if executor.kill_at is not None and now >= executor.kill_at:
                executor.kill_at = None
                executor.signal_group(signal.SIGKILL)

    def stop_cancelled(self, refs: list[AttemptRef]) -> None:
        for executor in self.executors:
            wanted = (executor.batch.keys() - executor.reported) & set(refs)
            if wanted:
                executor.cancelled |= wanted
                executor.stop("cancel", self.options.kill_grace_seconds)

    def due(self) -> list[float]:
        """When the next executor needs attention."""
        moments = [moment for executor in self.executors for moment in (executor.deadline, executor.kill_at) if moment]
        if any(executor.hung_up for executor in self.executors):
            moments.append(time.monotonic() + EXIT_LOOK_SECONDS)
        return moments
