"""The supervisor's view of one executor process."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from gribmill.queue.model import Claimed, Failed, Outcome, Snoozed, Stopped, Ticket
from gribmill.queue.worker.tail import Tail
from gribmill.queue.worker.wire import Channel, claimed_to_wire

StopReason = Literal["timeout", "cancel", "shutdown", "fenced"]
READ_BYTES = 65536


@dataclass(frozen=True, slots=True)
class Hello:
    """What an executor is told when it starts."""

    types: str
    worker_id: str
    nice: int
    log: dict[str, Any]
    environment: dict[str, Any]


@dataclass(eq=False, slots=True)
class Child:
    """A process, its channel, what it printed, and the batch it works on."""

    process: subprocess.Popen[bytes]
    channel: Channel
    started: float
    ready: bool = False
    batch: dict[Ticket, Claimed] = field(default_factory=dict)
    cancelled: set[Ticket] = field(default_factory=set)
    deadline: float | None = None
    timeout_seconds: float = 0.0
    kill_at: float | None = None
    stop_reason: StopReason | None = None
    retiring: bool = False
    jobs_done: int = 0
    stdout: Tail = field(default_factory=Tail)
    stderr: Tail = field(default_factory=Tail)

    @classmethod
    def spawn(cls, hello: Hello) -> Child:
        """Start a process in a session of its own, so that all it starts can be killed with it."""
        ours, theirs = socket.socketpair()
        try:
            process = subprocess.Popen(
                [sys.executable, "-m", "gribmill.queue.worker.executor", str(theirs.fileno()), str(os.getpid())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        except OSError:
            ours.close()
            raise
        finally:
            theirs.close()
        for pipe in (process.stdout, process.stderr):
            assert pipe is not None
            os.set_blocking(pipe.fileno(), False)
        child = cls(process, Channel(ours), time.monotonic())
        child.channel.send(
            {
                "types": hello.types,
                "worker_id": hello.worker_id,
                "nice": hello.nice,
                "log": hello.log,
                "environment": hello.environment,
            }
        )
        return child

    @property
    def idle(self) -> bool:
        return self.ready and not self.batch and not self.retiring and self.stop_reason is None

    @property
    def head(self) -> Claimed:
        return next(iter(self.batch.values()))

    def assign(self, batch: tuple[Claimed, ...], timeout_seconds: float) -> None:
        """Give it work. It must be done within the timeout."""
        self.batch = {job.ticket: job for job in batch}
        self.cancelled.clear()
        self.timeout_seconds = timeout_seconds
        self.deadline = time.monotonic() + timeout_seconds
        self.channel.send({"run": [claimed_to_wire(job) for job in batch]})

    def add_siblings(self, siblings: tuple[Claimed, ...]) -> None:
        self.batch |= {job.ticket: job for job in siblings}
        self.channel.send({"siblings": [claimed_to_wire(job) for job in siblings]})

    def release(self, ticket: Ticket) -> None:
        """That attempt is over."""
        if self.batch.pop(ticket, None) is not None:
            self.jobs_done += 1
        if not self.batch:
            self.deadline = None

    def stop(self, reason: StopReason, grace_seconds: float) -> None:
        """TERM to the whole group now; KILL when the grace is over."""
        if self.stop_reason is None:
            self.stop_reason = reason
            self.kill_at = time.monotonic() + grace_seconds
            self.signal_group(signal.SIGTERM)

    def retire(self) -> None:
        """Ask it to end: it has done enough, or grown too large."""
        self.retiring = True
        with contextlib.suppress(ConnectionError):
            self.channel.send({"exit": True})

    def signal_group(self, signum: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signum)

    def read_output(self) -> bytes:
        """Take what it has printed so far into the tails; what came on stderr is returned, to be passed on."""
        passed_on = b""
        for pipe, tail in ((self.process.stdout, self.stdout), (self.process.stderr, self.stderr)):
            assert pipe is not None
            with contextlib.suppress(BlockingIOError, ValueError):
                while data := os.read(pipe.fileno(), READ_BYTES):
                    tail.add(data)
                    if tail is self.stderr:
                        passed_on += data
                    if len(data) < READ_BYTES:
                        break
        return passed_on

    def reap(self) -> int:
        """Collect the dead process, and kill what it may have left behind. Its exit code, negative for a signal."""
        self.signal_group(signal.SIGKILL)
        code = self.process.wait()
        self.read_output()
        for pipe in (self.process.stdout, self.process.stderr):
            assert pipe is not None
            pipe.close()
        self.channel.close()
        return code

    def outcome_of_death(self, ticket: Ticket, exit_code: int) -> Outcome | None:
        """What its end means for one of its attempts; None when that attempt is no longer ours to report."""
        if self.stop_reason == "timeout":
            return Failed(f"took longer than {self.timeout_seconds:g} s and was stopped", timeout=True)
        if self.stop_reason == "cancel":
            if ticket in self.cancelled:
                return Stopped()
            return Snoozed(0, "stopped together with a sibling that was cancelled")
        if self.stop_reason == "shutdown":
            return Snoozed(0, "the worker was told to stop at once")
        if self.stop_reason == "fenced":
            return None
        return Failed(f"the executor died during the job: {describe_exit(exit_code)}")

    def memory_mb(self) -> float:
        """Resident memory; 0 where the system does not tell."""
        try:
            pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        except (OSError, IndexError, ValueError):
            return 0.0
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def describe_exit(code: int) -> str:
    """`signal 11 (SIGSEGV)`, or `exit code 3`."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {-code} ({signal.Signals(-code).name})"
    except ValueError:
        return f"signal {-code}"
