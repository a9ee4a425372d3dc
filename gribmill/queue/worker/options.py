"""The options of a worker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from gribmill.queue.model import Report
from gribmill.queue.store import Store
from gribmill.queue.worker.output_log import OutputLogs


class AttemptObserver(Protocol):
    """Is called in the loop of the supervisor: it must not wait."""

    def ended(self, report: Report) -> None:
        """The end of an attempt is stored."""
        ...

    def close(self) -> None:
        """The worker ends."""
        ...


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    """The settings of a supervisor. `until` says when it ends by itself."""

    types_path: str
    """Where executors find the registry: `module:attribute`."""
    lanes: dict[str, int]
    """How many executors each lane has."""
    niceness: dict[str, int] = field(default_factory=dict)
    """By lane, where it is not 0: how much of the CPU its executors leave to others."""
    only_types: tuple[str, ...] = ()
    until: Literal["stopped", "drained", "once"] = "stopped"
    lease_seconds: float = 60.0
    poll_seconds: float = 1.0
    kill_grace_seconds: float = 5.0
    drain_seconds: float = 600.0
    """How long a worker that is shutting down waits for its jobs before it stops them and puts them back."""
    max_jobs_per_executor: int = 1000
    max_memory_mb: int = 1024
    keep_completed_days: float = 3.0
    keep_failed_days: float = 90.0
    logs: OutputLogs | None = None
    """Where what each attempt prints is kept in full; None: nowhere."""
    log: dict[str, Any] = field(default_factory=dict)
    environment: dict[str, Any] = field(default_factory=dict)
    observer: Callable[[Store, str], AttemptObserver] | None = None
    """Makes what is to know of every attempt that ends, from the store and the worker's id."""
