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
from gribmill.queue.worker.output import OutputLog, OutputLogs, OutputTail, WholeLines

EXECUTOR = "gribmill.queue.worker.executor.main"
StopReason = Literal["timeout", "cancel", "shutdown", "fenced", "silent"]
READ_BYTES = 65536
# An executor that prints endlessly must not block the supervisor.
READS_AT_ONCE = 16
# Imports are slow on a loaded machine; an executor that takes longer than this is considered hung.
START_SECONDS = 120.0
# How long to wait for the exit code after the channel has closed.
HANG_UP_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class StartMessage:
    """The message that an executor receives at start-up."""

    types: str
    worker_id: str
    nice: int
    log: dict[str, Any]
    environment: dict[str, Any]


@dataclass(eq=False, slots=True)
class ExecutorHandle:
    """An executor process: its channel, its output, and its current batch."""

    process: subprocess.Popen[bytes]
    channel: Channel
    started: float
    ready: bool = False
    batch: dict[AttemptRef, Claimed] = field(default_factory=dict)
    reported: set[AttemptRef] = field(default_factory=set)
    """Attempts of the batch that were reported, though perhaps not stored yet."""
    cancelled: set[AttemptRef] = field(default_factory=set)
    deadline: float | None = None
    timeout_seconds: float = 0.0
    kill_at: float | None = None
    stop_reason: StopReason | None = None
    retiring: bool = False
    hung_up: bool = False
    """Whether it closed the channel; its exit code follows shortly."""
    mute: bool = False
    """Whether it closed its stdout or stderr, so that later jobs could not print."""
    fault: str | None = None
    jobs_done: int = 0
    stdout: OutputTail = field(default_factory=OutputTail)
    stderr: OutputTail = field(default_factory=OutputTail)
    lines: dict[IO[bytes], WholeLines] = field(default_factory=dict)
    outputs: dict[IO[bytes], OutputTail] = field(default_factory=dict)
    log: OutputLog | None = None
    """The full output log of the batch; None between batches, or if logs are off."""

    @classmethod
    def spawn(cls, start: StartMessage) -> ExecutorHandle:
        """Start a process in a new session, so that its children can be killed with it."""
        ours, theirs = socket.socketpair()
        try:
            process = subprocess.Popen(
                # -P: a queue.py in the working directory must not shadow Python's own.
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
        """Whether it can take another batch after this one."""
        return not self.retiring and not self.hung_up and self.stop_reason is None

    @property
    def done(self) -> bool:
        """Whether every attempt of its batch was reported."""
        return bool(self.batch) and self.batch.keys() <= self.reported

    @property
    def head(self) -> Claimed:
        return next(iter(self.batch.values()))

    @property
    def dead(self) -> bool:
        """Whether the process has ended. Its children may still hold the channel open, so reading is not enough."""
        return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None

    @property
    def asked_to_end(self) -> bool:
        """Whether we asked it to exit. One that never became ready has failed, even if we stopped it."""
        return self.retiring or (self.stop_reason is not None and (self.ready or self.stop_reason != "timeout"))

    def note_ready(self) -> None:
        self.ready = True
        self.deadline = None

    def assign(self, batch: tuple[Claimed, ...], timeout_seconds: float, logs: OutputLogs | None = None) -> None:
        """Give it a batch and a timeout. Its output from now on belongs to the batch."""
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
        """Record that it reported an attempt. After the last one it is idle."""
        self.reported.add(ref)
        if self.done:
            self.deadline = None

    def release(self, ref: AttemptRef) -> None:
        """Remove an attempt that is over."""
        if self.batch.pop(ref, None) is not None:
            self.jobs_done += 1

    def stop(self, reason: StopReason, grace_seconds: float) -> None:
        """Send TERM to the process group now, and KILL after the grace period."""
        if self.stop_reason is None:
            self.stop_reason = reason
            self.kill_at = time.monotonic() + grace_seconds
            self.signal_group(signal.SIGTERM)

    def retire(self, grace_seconds: float) -> None:
        """Ask it to exit, because it has run enough jobs or grown too large. KILL if it does not."""
        self.retiring = True
        self.kill_at = time.monotonic() + grace_seconds
        self.channel.post({"exit": True})

    def note_hang_up(self) -> None:
        """Record that its channel closed: it is exiting, or has to be stopped."""
        self.hung_up = True
        self.kill_at = time.monotonic() + HANG_UP_SECONDS

    def signal_group(self, signum: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signum)

    def read_output(self, pipe: IO[bytes]) -> tuple[bytes, bool]:
        """Read its output into the tail. Returns the new output, and whether more may follow."""
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
        """The log name of one of its attempts, if there is any output."""
        return self.log.name_for(ref) if self.log else None

    def reap(self) -> int:
        """Reap the dead process and kill its leftover children. Returns the exit code, negative for a signal."""
        self.signal_group(signal.SIGKILL)
        return self.process.wait()

    def close(self) -> None:
        for pipe in (self.process.stdout, self.process.stderr):
            assert pipe is not None
            pipe.close()
        self.channel.close()

    def outcome_of_death(self, ref: AttemptRef, exit_code: int) -> Outcome | None:
        """The outcome of an attempt whose executor died; None if the attempt is no longer ours."""
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
        """Resident memory; 0 if unknown."""
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
