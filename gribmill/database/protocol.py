"""What the queue needs of a database.

A dialect is one folder beside this file: code, SQL, migrations. What must be atomic is a verb of `Transaction`, which
each dialect writes in its own way. It reports what it did, and callers rely on nothing else; in particular not on being
the only writer. The rest are statements by name (`jobs/get`): rows are typed records, and parameters are Python values
(aware UTC datetimes, bools, and lists or dicts where the column holds JSON).
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
    """One consistent look. `now` is one moment for all of it, and every statement may use it as `:now`."""

    @property
    def now(self) -> datetime: ...

    def query(self, record: type[RecordT], name: str, params: Params = ...) -> list[RecordT]:
        """The rows of a named statement, each as a record whose fields are named like the columns."""
        ...

    def first(self, record: type[RecordT], name: str, params: Params = ...) -> RecordT | None:
        """The first row of a named statement, if there is one."""
        ...

    def table(self, name: str, params: Params = ...) -> RawRows:
        """The same rows as the database holds them, for another process that makes records of them."""
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
        """The rows that break a promise of the queue."""
        ...


class Transaction(Snapshot, Protocol):
    """Changes that become visible together, or not at all."""

    lasting: bool
    """Whether the commit waits for the disk, as it does by default. What only living processes rely on need not wait:
    a power cut ends them too."""
    wakes: bool
    """Whether a job can run now that could not before, so that idle workers are to look. Verbs set it."""
    source_job: int | None
    """The job whose attempt ends in this transaction: events are published in its name."""

    def change(self, name: str, params: Params = ...) -> int:
        """How many rows a named statement changed."""
        ...

    def across_tenants(self) -> AbstractContextManager[None]:
        """What is done in here may concern rows of other tenants, also in a request for one tenant. Only for what
        follows from a change that was made outside of it."""
        ...

    # Jobs

    def insert_jobs(self, jobs: Sequence[PreparedJob]) -> list[Enqueued]:
        """Enqueue in order. An active job with the same dedupe key is returned instead of a new one."""
        ...

    def check_tenant_limits(self, tenant_id: str, more: int = 0) -> None:
        """TenantLimit when the tenant has more jobs than it may: with those of this transaction, and `more`."""
        ...

    def retry(
        self, job_id: int, created_by: str | None, after: tuple[int, ...] = ..., on_parent_failure: str = ...
    ) -> Enqueued | None:
        """Enqueue a copy of a finished job, or find the one that was made before; None when there is no such job, or it
        has not finished. The copy can wait for other jobs."""
        ...

    def cancel(self, job_id: int, reason: str) -> Literal["cancelled", "requested"] | None:
        """Cancel a waiting job with its dependents, or ask a running one to stop; None when it has ended."""
        ...

    def cancel_group(self, group_id: int, reason: str) -> int:
        """Cancel the waiting jobs of a group with their dependents; how many jobs of the group there were."""
        ...

    def rearrange(
        self, priority: int, arrange: Callable[[Sequence[PlacedJob]], Mapping[int, int]], *, moved_only: bool = ...
    ) -> int:
        """Give pending jobs of a priority new positions. `arrange` gets all of them, or those with a position other
        than 0, in order; they cannot change meanwhile."""
        ...

    # Attempts

    def claim(self, request: ClaimRequest) -> tuple[Claimed, ...]:
        """Settle what has ended and promote what is due, then take the next batch, head first. Each job in it is this
        worker's alone.

        Tenants with ready jobs of the highest priority take turns. One that has as many jobs in flight as it may, or is
        disabled, is passed over.
        """
        ...

    def claim_job(self, request: ClaimRequest, job_id: int) -> Claimed | None:
        """Take this pending job ahead of its turn and its time, alone; None when something else keeps it from starting.
        The types of the request do not matter."""
        ...

    def claim_siblings(self, request: ClaimRequest, head: Claimed, limit: int) -> tuple[Claimed, ...]:
        """Ready jobs of the head's group; none when the worker no longer holds the head."""
        ...

    def complete(self, worker_id: str, reports: Sequence[tuple[Report, Succeeded]]) -> Sequence[AttemptStatus | None]:
        """The attempts succeeded, and their jobs are completed. None, in its place: the worker is fenced."""
        ...

    def hold_edits(self) -> None:
        """Until this transaction ends, nobody else changes what operators set: definitions, templates, triggers,
        webhooks and tenants. To be called before the look from which a change is made."""
        ...

    def hold_groups(self, job_ids: Sequence[int]) -> None:
        """Until this transaction ends, nobody adds to the groups of these jobs or cancels them. To be called before the
        verbs that end attempts, for those that may leave further jobs in their group."""
        ...

    def fail(self, worker_id: str, report: Report, outcome: Failed) -> AttemptStatus | None:
        """The attempt failed; its job waits for a retry, or has failed. None: the worker is fenced."""
        ...

    def snooze(self, worker_id: str, report: Report, outcome: Snoozed) -> AttemptStatus | None:
        """The job comes back later, at no cost. None: the worker is fenced."""
        ...

    def stop(self, worker_id: str, report: Report, outcome: Stopped) -> AttemptStatus | None:
        """The attempt was stopped, and its job is cancelled. None: the worker is fenced."""
        ...

    def settle(self) -> None:
        """Release or cancel the jobs that waited on jobs which have ended, and stop the groups in which a failure means
        that. The verbs above leave this to a `claim` in the same transaction, or to this."""
        ...

    def recover(self, limit: int, farthest_lease_seconds: float) -> Recovered:
        """End the attempts whose worker is gone; their jobs wait for a retry, or have ended."""
        ...

    def recover_worker(self, worker_id: str) -> Recovered:
        """End the attempts of a worker whose process has died; their jobs run again at once, or have ended."""
        ...

    # Workers

    def heartbeat(self, beat: Heartbeat) -> list[HeldAttempt]:
        """Renew all leases of a worker; the attempts that it still holds."""
        ...

    def take_lease(self, name: str, holder: str, seconds: float, *, renew: bool) -> int | None:
        """Acquire or renew a named lease; its term, or None while another holder has it."""
        ...

    # Reservations

    def reserve(
        self, reservation_id: str, scope: str, reserved_by: str, seconds: float, *, only_one: bool = ...
    ) -> Reservation:
        """The reservation of the scope that is in force from now on: this one, or the one that was there before.

        With `only_one` there is at most one at a time, whatever its scope.
        """
        ...

    def share_reservation(self, reservation_id: str, worker_id: str) -> bool:
        """Let a worker start jobs in spite of a reservation; False when it is not in force."""
        ...

    # Events

    def publish(self, event: NewEvent) -> None:
        """Put an event into the outbox. An optional one (`OPTIONAL_EVENTS`) only if it has a consumer."""
        ...

    def take_events(self, limit: int) -> list[PublishedEvent]:
        """Events that were not dispatched yet, the oldest first; no other transaction gets them."""
        ...

    def begin_condition(self, name: str, subject: str) -> bool:
        """Whether the condition begins now; False if it has begun before."""
        ...

    def end_condition(self, name: str, subject: str) -> bool:
        """Whether the condition ends now; False if there was none."""
        ...

    # Triggers

    def insert_trigger(self, trigger: Trigger) -> int:
        """Store a trigger (its id does not count); the id that it got."""
        ...

    def due_triggers(self, types: Sequence[str], limit: int) -> list[Trigger | BrokenTrigger]:
        """Schedules whose slot has come; no other transaction gets them before this one ends."""
        ...

    def event_triggers(self, event: str, tenant_id: str) -> list[Trigger | BrokenTrigger]: ...

    def fire(self, trigger_id: int, occasion: str, job: PreparedJob, again_before: datetime | None) -> Enqueued | None:
        """Enqueue the job of one occasion of a trigger; None when the occasion has fired already.

        With `again_before` it may fire again if the last time was before that moment.
        """
        ...


class Listener(Protocol):
    """Something to wait on: readable when another process may have made work."""

    def fileno(self) -> int: ...

    def drain(self) -> None:
        """Take the wake-ups that have come."""
        ...

    def close(self) -> None: ...


class Database(Protocol):
    """A database that holds a queue."""

    workers_outlive_it: bool
    """Whether workers go on when its machine crashes. They would go on with claims that it has forgotten."""

    def for_tenant(self, name: str) -> Database:
        """The same database for the requests of one tenant: if it can, it keeps `read` and `write` from rows of others.

        A second safeguard. Statements still have to name the tenant.
        """
        ...

    def read(self) -> AbstractContextManager[Snapshot]:
        """One consistent look that blocks no one."""
        ...

    def write(self) -> AbstractContextManager[Transaction]:
        """One change: commits at the end, rolls back on any error."""
        ...

    def turn(
        self, worker_id: str, reports: Sequence[tuple[Report, Succeeded]], claims: Sequence[ClaimRequest]
    ) -> Exchange | None:
        """Complete attempts that have no consequences, and claim, each as in a transaction; None: do it in one.

        For databases that have a shorter way than a statement after the other.
        """
        ...

    def insert_job(self, job: PreparedJob) -> Enqueued:
        """One job in its own transaction."""
        ...

    def may_have_work(self) -> bool:
        """Whether anything may have become ready since this thread last asked. Costs microseconds."""
        ...

    def tidy(self) -> None:
        """What the database wants done every few seconds. Any process may do it."""
        ...

    def announce(self) -> None:
        """Wake the workers that listen: there may be work. A lost wake-up only costs them a poll."""
        ...

    def listener(self) -> Listener: ...

    def close(self) -> None: ...


@runtime_checkable
class FileDatabase(Protocol):
    """What only a database in a file can do."""

    def backup(self, target: Path) -> None:
        """A consistent copy, made while workers run."""
        ...

    def blocked(self) -> bool:
        """Whether a stopped process keeps every writer out: no job can be given to another worker meanwhile."""
        ...

    def check_sound(self) -> None:
        """StoreCorrupt if a quick look finds the file damaged: before a worker begins to use it."""
        ...

    def integrity(self) -> list[str]:
        """What the database finds wrong with its own file; empty when sound."""
        ...
