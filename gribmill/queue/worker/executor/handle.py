"""The supervisor's view of one executor process."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any, Literal

from gribmill.queue.model import AttemptRef, Claimed, Failed, Outcome, Snoozed, Stopped
from gribmill.queue.worker.executor.ipc import Channel, claimed_to_message
from gribmill.queue.worker.executor.output_tail import OutputTail, WholeLines
from gribmill.queue.worker.output_log import OutputLog, OutputLogs

EXECUTOR = "gribmill.queue.worker.executor.main"
StopReason = Literal["timeout", "cancel", "shutdown", "fenced", "silent"]
READ_BYTES = 65536
# One that prints without end must not keep the supervisor from everything else.
READS_AT_ONCE = 16
# Imports on a loaded machine are slow; one that is not ready by then hangs.
START_SECONDS = 120.0
# Between closing the channel and the exit code that says why.
HANG_UP_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class StartMessage:
    """What an executor needs to know when it starts."""

    types: str
    worker_id: str
    nice: int
    log: dict[str, Any]
    environment: dict[str, Any]


@dataclass(eq=False, slots=True)
class ExecutorHandle:
    """A process, its channel, what it printed, and the batch it works on."""

    process: subprocess.Popen[bytes]
    channel: Channel
    started: float
    ready: bool = False
    batch: dict[AttemptRef, Claimed] = field(default_factory=dict)
    reported: set[AttemptRef] = field(default_factory=set)
    """Attempts of the batch whose report is here already, though perhaps not stored yet."""
    cancelled: set[AttemptRef] = field(default_factory=set)
    deadline: float | None = None
    timeout_seconds: float = 0.0
    kill_at: float | None = None
    stop_reason: StopReason | None = None
    retiring: bool = False
    hung_up: bool = False
    """It closed the channel. Its exit code comes a little later."""
    mute: bool = False
    """It closed its stdout or stderr: later jobs could not print."""
    fault: str | None = None
    jobs_done: int = 0
    stdout: OutputTail = field(default_factory=OutputTail)
    stderr: OutputTail = field(default_factory=OutputTail)
    lines: dict[IO[bytes], WholeLines] = field(default_factory=dict)
    outputs: dict[IO[bytes], OutputTail] = field(default_factory=dict)
    log: OutputLog | None = None
    """Where what the batch prints is kept in full; None between batches, or if none is kept."""

    @classmethod
    def spawn(cls, start: StartMessage) -> ExecutorHandle:
        """Start a process in a new session, so that all it starts can be killed with it."""
        ours, theirs = socket.socketpair()
        try:
            process = subprocess.Popen(
                # -P: a queue.py in the folder where a worker is started must not shadow Python's own.
                [sys.executable, "-P", "-m", EXECUTOR, str(theirs.fileno()), str(os.getpid())],
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
        now = time.monotonic()
        executor = cls(process, Channel(ours), now, deadline=now + START_SECONDS)
        for pipe, tail in ((process.stdout, executor.stdout), (process.stderr, executor.stderr)):
            assert pipe is not None
            os.set_blocking(pipe.fileno(), False)
            executor.outputs[pipe] = tail
            executor.lines[pipe] = WholeLines()
        executor.channel.post(asdict(start))
        return executor

    @property
    def idle(self) -> bool:
        return self.ready and not self.batch and self.takes_more

    @property
    def takes_more(self) -> bool:
        """Whether it may be given another batch once it is done."""
        return not self.retiring and not self.hung_up and self.stop_reason is None

    @property
    def done(self) -> bool:
        """Whether every attempt it was given has been reported."""
        return bool(self.batch) and self.batch.keys() <= self.reported

    @property
    def head(self) -> Claimed:
        return next(iter(self.batch.values()))

    @property
    def dead(self) -> bool:
        """Whether the process has ended. Its children may still hold the channel, so reading alone does not tell."""
        return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None

    @property
    def asked_to_end(self) -> bool:
        """Whether its end was our wish. One that never came up has failed, though we stopped it."""
        return self.retiring or (self.stop_reason is not None and (self.ready or self.stop_reason != "timeout"))

    def note_ready(self) -> None:
        self.ready = True
        self.deadline = None

    def assign(self, batch: tuple[Claimed, ...], timeout_seconds: float, logs: OutputLogs | None = None) -> None:
        """Give it work, to be done within the timeout. What it prints from now on belongs to the whole batch."""
        self.stdout.clear()
        self.stderr.clear()
        self.batch = {job.ref: job for job in batch}
        self.log = logs.open(batch[0].ref) if logs else None
        self.reported.clear()
        self.cancelled.clear()
        self.timeout_seconds = timeout_seconds
        self.deadline = time.monotonic() + timeout_seconds
        self.channel.post({"run": [claimed_to_message(job) for job in batch]})

    def add_siblings(self, siblings: tuple[Claimed, ...]) -> None:
        self.batch |= {job.ref: job for job in siblings}
        self.channel.post({"siblings": [claimed_to_message(job) for job in siblings]})

    def note_report(self, ref: AttemptRef) -> None:
        """Its word on that attempt is here. After the last one it can only wait."""
        self.reported.add(ref)
        if self.done:
            self.deadline = None

    def release(self, ref: AttemptRef) -> None:
        """That attempt is over."""
        if self.batch.pop(ref, None) is not None:
            self.jobs_done += 1

    def stop(self, reason: StopReason, grace_seconds: float) -> None:
        """TERM to the whole group now; KILL when the grace is over."""
        if self.stop_reason is None:
            self.stop_reason = reason
            self.kill_at = time.monotonic() + grace_seconds
            self.signal_group(signal.SIGTERM)

    def retire(self, grace_seconds: float) -> None:
        """Ask it to end: it has done enough, or grown too large. KILL when it does not."""
        self.retiring = True
        self.kill_at = time.monotonic() + grace_seconds
        self.channel.post({"exit": True})

    def note_hang_up(self) -> None:
        """It will say no more: it is ending by itself, or has to."""
        self.hung_up = True
        self.kill_at = time.monotonic() + HANG_UP_SECONDS

    def signal_group(self, signum: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signum)

    def read_output(self, pipe: IO[bytes]) -> tuple[bytes, bool]:
        """Take what it printed there into the tail; that, and whether more may come."""
        taken = b""
        with contextlib.suppress(BlockingIOError):
            for _ in range(READS_AT_ONCE):
                data = os.read(pipe.fileno(), READ_BYTES)
                if not data:
                    return taken, False
                self.outputs[pipe].add(data)
                taken += data
        return taken, True

    def log_of(self, ref: AttemptRef) -> str | None:
        """The name of the log of one of its attempts, if it printed anything so far."""
        return self.log.name_for(ref) if self.log else None

    def reap(self) -> int:
        """Collect the dead process, and kill what it may have left behind. Its exit code, negative for a signal."""
        self.signal_group(signal.SIGKILL)
        return self.process.wait()

    def close(self) -> None:
        for pipe in (self.process.stdout, self.process.stderr):
            assert pipe is not None
            pipe.close()
        self.channel.close()

    def outcome_of_death(self, ref: AttemptRef, exit_code: int) -> Outcome | None:
        """What its end means for one of its attempts; None when that attempt is no longer ours to report."""
        if self.stop_reason == "timeout":
            return Failed(f"took longer than {self.timeout_seconds:g} s and was stopped", timeout=True)
        if self.stop_reason == "cancel":
            if ref in self.cancelled:
                return Stopped()
            return Snoozed(0, "stopped together with a sibling that was cancelled")
        if self.stop_reason == "shutdown":
            return Snoozed(0, "the worker was stopped at once")
        if self.stop_reason == "silent":
            return Failed("the worker could not renew its leases in time and stopped the job itself")
        if self.stop_reason == "fenced":
            return None
        if self.fault is not None:
            return Failed(f"the executor was stopped during the job: {self.fault}")
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
