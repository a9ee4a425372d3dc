"""The options of a worker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from gribmill.queue.model import Report
from gribmill.queue.store import Store
from gribmill.queue.worker.output import OutputLogs


class AttemptObserver(Protocol):
    """Observes attempts. Called in the supervisor's loop, so it must not block."""

    def ended(self, report: Report) -> None:
        """Called when the end of an attempt is stored."""
        ...

    def close(self) -> None:
        """Called when the worker stops."""
        ...


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    """The options of a supervisor. `until` determines when it stops without a signal."""

    types_path: str
    """Where executors import the registry from: `module:attribute`."""
    lanes: dict[str, int]
    """The number of executors per lane."""
    niceness: dict[str, int] = field(default_factory=dict)
    """The niceness of executors by lane; 0 if omitted."""
    only_types: tuple[str, ...] = ()
    until: Literal["stopped", "drained", "once"] = "stopped"
    lease_seconds: float = 60.0
    poll_seconds: float = 1.0
    kill_grace_seconds: float = 5.0
    drain_seconds: float = 600.0
    """How long a draining worker waits for its jobs before it stops and requeues them."""
    max_jobs_per_executor: int = 1000
    max_memory_mb: int = 1024
    keep_completed_days: float = 3.0
    keep_failed_days: float = 90.0
    logs: OutputLogs | None = None
    """Where the full output of attempts is stored; None: nowhere."""
    log: dict[str, Any] = field(default_factory=dict)
    environment: dict[str, Any] = field(default_factory=dict)
    observer: Callable[[Store, str], AttemptObserver] | None = None
    """Creates an observer of ended attempts from the store and the worker's id."""
