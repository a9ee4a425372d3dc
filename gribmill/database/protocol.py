"""The interface between the queue and its database.

A dialect is one folder beside this file, with code, SQL and migrations. Operations that must be atomic are verbs of
`Transaction`, which each dialect implements in its own way. Callers rely only on a verb's result, and never on being
the only writer. Everything else is a named statement (`jobs/get`): rows are typed records, and parameters are Python
values (aware UTC datetimes, bools, and lists or dicts for JSON columns).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar, runtime_checkable

from gribmill.database.records import RawRows
from gribmill.queue.model import (
    AttemptStatus,
    BrokenTrigger,
    Claimed,
    ClaimRequest,
    Enqueued,
    Exchange,
    Failed,
    Heartbeat,
    HeldAttempt,
    NewEvent,
    PlacedJob,
    PreparedJob,
    PublishedEvent,
    Recovered,
    Report,
    Reservation,
    Snoozed,
    Stopped,
    Succeeded,
    Trigger,
    Violation,
)

RecordT = TypeVar("RecordT")
Params = Mapping[str, Any]


class Snapshot(Protocol):
    """One consistent snapshot. `now` is fixed, and available to every statement as `:now`."""

    @property
    def now(self) -> datetime: ...

    def query(self, record: type[RecordT], name: str, params: Params = ...) -> list[RecordT]:
        """The rows of a named statement, each as a record whose fields are named like the columns."""
        ...

    def first(self, record: type[RecordT], name: str, params: Params = ...) -> RecordT | None:
        """The first row of a named statement, if there is one."""
        ...

    def table(self, name: str, params: Params = ...) -> RawRows:
        """The same rows, unconverted, for another process that turns them into records."""
        ...

    def list_triggers(self) -> list[Trigger | BrokenTrigger]: ...

    def get_trigger(self, trigger_id: int) -> Trigger | BrokenTrigger | None: ...

    def any_trigger_due(self, types: Sequence[str]) -> bool:
        """Whether `due_triggers` would find something."""
        ...

    def any_lost(self, farthest_lease_seconds: float) -> bool:
        """Whether `recover` would find something."""
        ...

    def violations(self) -> list[Violation]:
        """The rows that violate an invariant of the queue."""
        ...


class Transaction(Snapshot, Protocol):
    """Changes that become visible together, or not at all."""

    lasting: bool
    """Whether the commit waits for the disk (the default). Changes that matter only to live processes, such as leases,
    need not wait: a power cut ends those processes too."""
    wakes: bool
    """Whether a job has become ready, so that idle workers should be woken. Set by verbs."""
    source_job: int | None
    """The job whose attempt ends in this transaction: events are published in its name."""

    def change(self, name: str, params: Params = ...) -> int:
        """Run a named statement; returns how many rows it changed."""
        ...

    def send(self, name: str, params: Params = ...) -> None:
        """Run a named statement whose result is not needed. It may wait for the next statement or the commit, to share
        a round trip with it; an error is raised there."""
        ...

    def across_tenants(self) -> AbstractContextManager[None]:
        """Within this context, even a request for one tenant may read and change rows of other tenants. Only for
        consequences of a change that was made outside it."""
        ...

    # Jobs

    def insert_jobs(self, jobs: Sequence[PreparedJob]) -> list[Enqueued]:
        """Enqueue in order. An active job with the same dedupe key is returned instead of a new one."""
        ...

    def check_tenant_limits(self, tenant_id: str, more: int = 0) -> None:
        """Raise TenantLimit if the tenant exceeds its limits, counting this transaction's jobs and `more` others."""
        ...

    def retry(
        self, job_id: int, created_by: str | None, after: tuple[int, ...] = ..., on_parent_failure: str = ...
    ) -> Enqueued | None:
        """Enqueue a copy of a finished job, or return its existing copy; None if there is no such job or it has not
        finished. The copy can wait for other jobs."""
        ...

    def cancel(self, job_id: int, reason: str) -> Literal["cancelled", "requested"] | None:
        """Cancel a pending job with its dependents, or ask a running one to stop; None if it has ended."""
        ...

    def cancel_group(self, group_id: int, reason: str) -> int:
        """Cancel the pending jobs of a group with their dependents; returns how many jobs of the group."""
        ...

    def rearrange(
        self, priority: int, arrange: Callable[[Sequence[PlacedJob]], Mapping[int, int]], *, moved_only: bool = ...
    ) -> int:
        """Give pending jobs of a priority new positions. `arrange` receives all of them, or those with a position other
        than 0, in order; they are locked meanwhile."""
        ...

    # Attempts

    def claim(self, request: ClaimRequest) -> tuple[Claimed, ...]:
        """Settle dependents and promote due jobs, then claim the next batch, head first. No other worker gets these
        jobs.

        Tenants with ready jobs of the highest priority take turns. A tenant that is disabled, or at its limit of jobs
        in flight, is skipped.
        """
        ...

    def claim_job(self, request: ClaimRequest, job_id: int) -> Claimed | None:
        """Claim this pending job alone, ahead of its turn and its due time; None if anything else keeps it from
        starting. The types of the request are ignored."""
        ...

    def claim_siblings(self, request: ClaimRequest, head: Claimed, limit: int) -> tuple[Claimed, ...]:
        """Claim ready jobs with the head's batching key; none if the worker no longer holds the head."""
        ...

    def complete(self, worker_id: str, reports: Sequence[tuple[Report, Succeeded]]) -> Sequence[AttemptStatus | None]:
        """End attempts as succeeded and complete their jobs. Returns each status; None if the worker is fenced."""
        ...

    def hold_edits(self) -> None:
        """Lock what operators edit (definitions, templates, triggers, webhooks and tenants) until this transaction
        ends. Call it before reading the state that a change is based on."""
        ...

    def hold_groups(self, job_ids: Sequence[int]) -> None:
        """Until this transaction ends, no other one can add to the groups of these jobs or cancel them. Call it before
        ending attempts that may add jobs to their group."""
        ...

    def fail(self, worker_id: str, report: Report, outcome: Failed) -> AttemptStatus | None:
        """End an attempt as failed; its job waits for a retry or fails. None if the worker is fenced."""
        ...

    def snooze(self, worker_id: str, report: Report, outcome: Snoozed) -> AttemptStatus | None:
        """Put the job back for later without using an attempt. None if the worker is fenced."""
        ...

    def stop(self, worker_id: str, report: Report, outcome: Stopped) -> AttemptStatus | None:
        """End a stopped attempt and cancel its job. None if the worker is fenced."""
        ...

    def settle(self) -> None:
        """Release or cancel the dependents of ended jobs, and stop groups that stop at a failure. The verbs above leave
        this to a `claim` in the same transaction, or to this call."""
        ...

    def recover(self, limit: int, farthest_lease_seconds: float) -> Recovered:
        """End the attempts of lost workers; their jobs wait for a retry, or end."""
        ...

    def recover_worker(self, worker_id: str) -> Recovered:
        """End the attempts of a worker whose process has died; their jobs run again without delay, or end."""
        ...

    # Workers

    def heartbeat(self, beat: Heartbeat) -> list[HeldAttempt]:
        """Renew all leases of a worker; returns the attempts that it still holds."""
        ...

    def take_lease(self, name: str, holder: str, seconds: float, *, renew: bool) -> int | None:
        """Acquire or renew a named lease; returns its term, or None while another holder has it."""
        ...

    # Reservations

    def reserve(
        self, reservation_id: str, scope: str, reserved_by: str, seconds: float, *, only_one: bool = ...
    ) -> Reservation:
        """Reserve a scope; returns the reservation that is now active: the new one, or one that already was.

        With `only_one`, at most one reservation can be active, whatever its scope.
        """
        ...

    def share_reservation(self, reservation_id: str, worker_id: str) -> bool:
        """Let a worker start jobs despite a reservation; False if the reservation is not active."""
        ...

    # Events

    def publish(self, event: NewEvent) -> None:
        """Write an event to the outbox; an optional one (`OPTIONAL_EVENTS`) only if it has a consumer."""
        ...

    def take_events(self, limit: int) -> list[PublishedEvent]:
        """Take undispatched events, oldest first; no other transaction gets them."""
        ...

    def begin_condition(self, name: str, subject: str) -> bool:
        """Begin a condition; False if it had already begun."""
        ...

    def end_condition(self, name: str, subject: str) -> bool:
        """End a condition; False if there was none."""
        ...

    # Triggers

    def insert_trigger(self, trigger: Trigger) -> int:
        """Store a trigger, ignoring its id; returns the id assigned."""
        ...

    def due_triggers(self, types: Sequence[str], limit: int) -> list[Trigger | BrokenTrigger]:
        """The due schedules, locked until this transaction ends."""
        ...

    def event_triggers(self, event: str, tenant_id: str) -> list[Trigger | BrokenTrigger]: ...

    def fire(self, trigger_id: int, occasion: str, job: PreparedJob, again_before: datetime | None) -> Enqueued | None:
        """Enqueue a trigger's job for one occasion; None if the occasion has already fired.

        With `again_before`, it may fire again if it last fired before that time.
        """
        ...


class Listener(Protocol):
    """Becomes readable when another process may have created work."""

    def fileno(self) -> int: ...

    def drain(self) -> None:
        """Consume all pending wake-ups."""
        ...

    def close(self) -> None: ...


class Database(Protocol):
    """A database that holds a queue."""

    workers_outlive_it: bool
    """Whether workers survive a crash of the database's host. They could then hold claims that it has lost."""

    def for_tenant(self, name: str) -> Database:
        """The same database for requests of one tenant; if it can, it hides the rows of other tenants.

        This is a second safeguard: statements must still filter by tenant.
        """
        ...

    def read(self) -> AbstractContextManager[Snapshot]:
        """A consistent snapshot that does not block writers."""
        ...

    def write(self) -> AbstractContextManager[Transaction]:
        """One write transaction: commits at the end, rolls back on any error."""
        ...

    def turn(
        self, worker_id: str, reports: Sequence[tuple[Report, Succeeded]], claims: Sequence[ClaimRequest]
    ) -> Exchange | None:
        """Complete attempts without follow-up, and claim, with less overhead than `write`.

        None if the database has no such shortcut: the caller then uses `write`.
        """
        ...

    def insert_job(self, job: PreparedJob) -> Enqueued:
        """Enqueue one job in its own transaction."""
        ...

    def may_have_work(self) -> bool:
        """Whether a job may have become ready since this thread's last call. Takes microseconds."""
        ...

    def tidy(self) -> None:
        """Periodic housekeeping, every few seconds, by any process."""
        ...

    def announce(self) -> None:
        """Wake listening workers because there may be work. A lost wake-up delays work by one poll interval at most."""
        ...

    def listener(self) -> Listener: ...

    def close(self) -> None: ...


@runtime_checkable
class FileDatabase(Protocol):
    """Operations that only a database in a file supports."""

    def backup(self, target: Path) -> None:
        """Make a consistent copy while workers run."""
        ...

    def blocked(self) -> bool:
        """Whether a suspended process blocks all writers, so that no other worker can claim anything."""
        ...

    def check_sound(self) -> None:
        """Raise StoreCorrupt if a quick check finds damage. Workers call it before they use the file."""
        ...

    def integrity(self) -> list[str]:
        """The problems that a full check of the file finds; empty if it is sound."""
        ...
