"""The executors of a worker, in their lanes: started, listened to, stopped, buried."""

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
from gribmill.queue.model import Claimed, Failed, Outcome, Report, Ticket
from gribmill.queue.worker.executor_handle import Child, Hello, describe_exit
from gribmill.queue.worker.ipc import Garbled, outcome_from_wire
from gribmill.queue.worker.lane import Lane
from gribmill.queue.worker.options import WorkerOptions
from gribmill.queue.worker.redact import redacted

log = logging.getLogger("gribmill.worker")

MEMORY_CHECK_SECONDS = 1.0
# A process that has closed its channel is gone in a moment, and nothing tells when.
EXIT_LOOK_SECONDS = 0.01


class Crew:
    """Every executor process. It hears what they say and turns it, or their death, into reports."""

    def __init__(
        self,
        lanes: Sequence[Lane],
        options: WorkerOptions,
        worker_id: str,
        selector: selectors.BaseSelector,
        top_up: Callable[[Child, int], None],
    ) -> None:
        self.lanes = lanes
        self.ending: dict[Ticket, Claimed] = {}
        """The jobs of reports that are not stored yet."""
        self._options = options
        self._worker_id = worker_id
        self._selector = selector
        self._top_up = top_up

    @property
    def children(self) -> list[Child]:
        return [child for lane in self.lanes for child in lane.children]

    @property
    def busy(self) -> int:
        """How many of them have work."""
        return sum(bool(child.batch) for child in self.children)

    def spawn_missing(self) -> None:
        for lane in self.lanes:
            while lane.missing > 0 and lane.may_spawn:
                self._spawn(lane)

    def _spawn(self, lane: Lane) -> None:
        options = self._options
        hello = Hello(options.types_path, self._worker_id, lane.nice, options.log, options.environment)
        try:
            child = Child.spawn(hello)
        except OSError as error:
            lane.note_death()
            log.error("an executor of lane %s cannot be started: %s", lane.name, error)
            return
        lane.children.append(child)
        self._selector.register(child.channel, selectors.EVENT_READ, lambda: self._on_channel(child))
        for pipe in child.outputs:
            self._selector.register(pipe, selectors.EVENT_READ, self._drainer(child, pipe))

    def _drainer(self, child: Child, pipe: IO[bytes]) -> Callable[[], None]:
        return lambda: self._take_output(child, pipe)

    def watch_channels(self) -> None:
        """An executor that has not read everything yet is watched until it does."""
        for child in [child for child in self.children if not child.hung_up]:
            key = self._selector.get_key(child.channel)
            wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if child.channel.clogged else 0)
            if key.events != wanted:
                self._selector.modify(child.channel, wanted, key.data)

    def _on_channel(self, child: Child) -> list[Report]:
        """What an executor says; or that it is gone."""
        child.channel.flush()
        reports: list[Report] = []
        try:
            messages, alive = child.channel.receive_ready()
            for message in messages:
                reports += self._on_message(child, message)
        except (Garbled, KeyError, TypeError, ValueError) as error:
            child.fault = f"it sent nonsense ({error})"
            child.signal_group(signal.SIGKILL)
            alive = False
        if not alive:
            self._selector.unregister(child.channel)
            child.note_hang_up()
        return reports

    def _on_message(self, child: Child, message: dict[str, Any]) -> list[Report]:
        if "ready" in message:
            child.note_ready()
        elif "top_up" in message:
            self._top_up(child, int(message["top_up"]))
        elif "report" in message:
            return self._report(child, message["report"])
        return []

    def _report(self, child: Child, message: dict[str, Any]) -> list[Report]:
        for pipe in list(child.outputs):
            self._take_output(child, pipe)
        ticket = Ticket(message["job_id"], message["attempt_no"])
        if ticket not in child.batch or ticket in child.reported:
            raise Garbled(f"a report on job {ticket.job_id}, which is not in its hands")
        try:
            outcome: Outcome = outcome_from_wire(message["outcome"])
        except QueueError as error:
            outcome = Failed(str(error), permanent=True)
        child.note_report(ticket)
        self.ending[ticket] = child.batch[ticket]
        exit_code = 1 if isinstance(outcome, Failed) else 0
        return [Report(ticket, redacted(outcome), exit_code, child.stdout.text(), child.stderr.text())]

    def bury_the_dead(self) -> list[Report]:
        """Executors that have ended, also those whose own children keep the channel open."""
        reports: list[Report] = []
        for lane in self.lanes:
            for child in [child for child in lane.children if child.dead]:
                if not child.hung_up:
                    reports += self._on_channel(child)  # what it said last still counts
                reports += self.bury(lane, child)
        return reports

    def bury(self, lane: Lane, child: Child) -> list[Report]:
        """An executor is gone: report what it leaves behind, and make room for the next."""
        code = child.reap()
        for pipe in list(child.outputs):
            self._take_output(child, pipe)
        for pipe in child.outputs:
            self._selector.unregister(pipe)
        if not child.hung_up:
            self._selector.unregister(child.channel)
        child.close()
        lane.children.remove(child)
        if not child.asked_to_end:
            lane.note_death()
            log.error("an executor of lane %s died: %s", lane.name, child.fault or describe_exit(code))
        stdout, stderr = child.stdout.text(), child.stderr.text()
        reports = []
        for ticket, job in child.batch.items():
            outcome = None if ticket in child.reported else child.outcome_of_death(ticket, code)
            if outcome is not None:
                self.ending[ticket] = job
                reports.append(Report(ticket, outcome, code, stdout, stderr))
        return reports

    def _take_output(self, child: Child, pipe: IO[bytes]) -> None:
        """What it printed goes into its tails, and what came on stderr to ours as well."""
        if pipe not in child.outputs or pipe.closed:
            return
        text, more_may_come = child.read_output(pipe)
        if text and pipe is child.process.stderr:
            with contextlib.suppress(OSError, ValueError, AttributeError):  # nobody listens to us
                sys.stderr.buffer.write(text)
                sys.stderr.buffer.flush()
        if not more_may_come:
            self._selector.unregister(pipe)
            del child.outputs[pipe]
            child.mute = True

    def too_old(self, child: Child) -> bool:
        if child.mute or child.jobs_done + len(child.batch) >= self._options.max_jobs_per_executor:
            return True
        now = time.monotonic()
        if now < child.started + MEMORY_CHECK_SECONDS:
            return False
        return child.memory_mb() > self._options.max_memory_mb

    def kill_busy(self) -> int:
        """For the fence, from its own thread: signals only."""
        children = [child for lane in self.lanes for child in list(lane.children)]
        busy = [child for child in children if child.batch]
        for child in busy:
            child.stop_reason = child.stop_reason or "silent"
            child.signal_group(signal.SIGKILL)
        return len(busy)

    def stop_overdue(self) -> None:
        now = time.monotonic()
        for child in self.children:
            if child.deadline is not None and now >= child.deadline:
                child.deadline = None
                child.stop("timeout", self._options.kill_grace_seconds)
            if child.kill_at is not None and now >= child.kill_at:
                child.kill_at = None
                child.signal_group(signal.SIGKILL)

    def stop_cancelled(self, tickets: list[Ticket]) -> None:
        for child in self.children:
            wanted = (child.batch.keys() - child.reported) & set(tickets)
            if wanted:
                child.cancelled |= wanted
                child.stop("cancel", self._options.kill_grace_seconds)

    def due(self) -> list[float]:
        """When one of them has to be looked after."""
        moments = [moment for child in self.children for moment in (child.deadline, child.kill_at) if moment]
        if any(child.hung_up for child in self.children):
            moments.append(time.monotonic() + EXIT_LOOK_SECONDS)
        return moments
