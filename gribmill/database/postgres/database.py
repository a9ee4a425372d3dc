"""The queue in PostgreSQL: one connection per process and thread, reopened after it was lost."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Sequence
from copy import copy

from psycopg.errors import InsufficientPrivilege

from gribmill.database.postgres.claims import NONE, claiming, read_claim
from gribmill.database.postgres.completion import completed_ids, completing, noting, which_ended
from gribmill.database.postgres.connection import DEFAULT_LEASE_SECONDS, shown_name
from gribmill.database.postgres.enqueue import inserting
from gribmill.database.postgres.error_translation import FAULTS, fault_of, lost_connection
from gribmill.database.postgres.handle import READ, WRITE, Handle
from gribmill.database.postgres.migrate import migrate, migrations, missing_migrations
from gribmill.database.postgres.notifications import Announcer, NotificationListener
from gribmill.database.postgres.session import NamedCall
from gribmill.database.postgres.statements import statement
from gribmill.database.postgres.tenant_role import ADVICE, role_state, set_up_role
from gribmill.database.postgres.transaction import PostgresTransaction
from gribmill.queue.errors import StatementRefused, StoreError, StoreReadOnly
from gribmill.queue.model import AttemptRef, Claimed, ClaimRequest, Enqueued, Exchange, PreparedJob, Report, Succeeded
from gribmill.queue.times import Clock

log = logging.getLogger("gribmill.queue")

# Connections inherited over a fork are kept open: closing one in the child would end the parent's session.
_carried_over_fork: list[Handle] = []


class _Reading:
    """One snapshot."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database

    def __enter__(self) -> PostgresTransaction:
        self._handle, self._transaction = self._database._enter(READ, self._database.tenant)
        return self._transaction

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if self._transaction.begun:
            self._handle.end_look(failed=error is not None)
        if isinstance(error, FAULTS):
            raise self._database._fault(error) from error


class _Writing:
    """One write transaction (READ COMMITTED). The verbs lock what must not change meanwhile."""

    __slots__ = ("_database", "_handle", "_transaction")

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database

    def __enter__(self) -> PostgresTransaction:
        self._handle, self._transaction = self._database._enter(WRITE, self._database.tenant)
        return self._transaction

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            try:
                self._transaction.commit()
            except FAULTS as failure:
                self._handle.roll_back()
                raise self._database._fault(failure) from failure
        elif self._transaction.begun:
            self._handle.roll_back()
        if isinstance(error, FAULTS):
            raise self._database._fault(error) from error


class PostgresDatabase:
    """Safe to use from many threads, processes and hosts. Uses the server's time, unless a clock is given."""

    workers_outlive_it = True

    def __init__(
        self,
        dsn: str,
        *,
        create: bool = True,
        lease_seconds: float = DEFAULT_LEASE_SECONDS,
        clock: Clock | None = None,
    ) -> None:
        """Migrates a schema of an older version. Creates the tables in an empty database only with `create`."""
        self.dsn = dsn
        self._lease_seconds = lease_seconds
        self.name = shown_name(dsn)
        self.clock = clock
        self.tenant: str | None = None
        self._has_tenant_role: bool | None = None
        self._local = threading.local()
        self._announcer = Announcer(dsn, lease_seconds)
        try:
            self._bring_up_to_date(create=create)
        except FAULTS as error:
            raise self._fault(error) from error

    def for_tenant(self, name: str) -> PostgresDatabase:
        """The same database with the same connections. Its transactions run as the tenant role, if that exists."""
        if self._has_tenant_role is None:
            self._has_tenant_role = self._look_for_role()
        if not self._has_tenant_role:
            return self
        scoped = copy(self)
        scoped.tenant = name
        return scoped

    def _look_for_role(self) -> bool:
        try:
            ready, wanted = role_state(self._open_handle().connection)
        except FAULTS as error:
            raise self._fault(error) from error
        if wanted and not ready:
            log.warning("%s: %s", self.name, ADVICE)
        return ready

    def read(self) -> _Reading:
        return _Reading(self)

    def write(self) -> _Writing:
        return _Writing(self)

    def turn(
        self, worker_id: str, reports: Sequence[tuple[Report, Succeeded]], claims: Sequence[ClaimRequest]
    ) -> Exchange | None:
        handle, tx = self._enter(WRITE)
        try:
            done, left = _take_turn(tx, handle, worker_id, reports, claims)
        except FAULTS as error:
            handle.roll_back()
            raise self._fault(error) from error
        return self._finish_turn(done, claims) if left else done

    def _finish_turn(self, done: Exchange, claims: Sequence[ClaimRequest]) -> Exchange:
        """Do what depends on the results of a turn's statements: settle dependents, and claim in turn.

        The turn itself is committed and must be reported even if this fails; the next claim then does the rest.
        """
        try:
            with self.write() as tx:
                tx.settle()
                batches = tuple(batch or tx.claim(request) for batch, request in zip(done.batches, claims, strict=True))
        except StoreError as error:
            if done == Exchange((), (), ((),) * len(claims)):
                raise
            log.debug("%s: dependents are settled by the next claim: %s", self.name, error)
            return done
        if tx.wakes:
            self.announce()
        return done._replace(batches=batches)

    def insert_job(self, job: PreparedJob) -> Enqueued:
        if self.tenant is None and not job.after and (made := self._insert_new(job)) is not None:
            return made
        with self.write() as tx:
            return tx.insert_jobs([job])[0]

    def _insert_new(self, job: PreparedJob) -> Enqueued | None:
        """Insert a job in one round trip; None if an equal job is active."""
        handle, tx = self._enter(WRITE)
        name, row = inserting(tx, job)
        try:
            (made,) = handle.commit_all([(statement(name), row)])
        except FAULTS as error:
            handle.roll_back()
            raise self._fault(error) from error
        return Enqueued(made.rows[0][0], created=True) if made.rows else None

    def may_have_work(self) -> bool:
        """Whether something is ready or due. Locks nothing and costs a third of an empty claim."""
        with self.read() as tx:
            return bool(tx.rows("jobs/any_work", {"now": tx.stamp}))

    def tidy(self) -> None:
        """Fold the accumulated count changes into the counts."""
        with self.read() as tx:
            many = tx.rows("counts/many")
        if many:
            with self.write() as tx:
                tx.execute("counts/fold")

    def announce(self) -> None:
        self._announcer.announce()

    def listener(self) -> NotificationListener:
        return NotificationListener(self.dsn, self.name)

    def close(self) -> None:
        """Close this thread's connection."""
        self._announcer.close()
        handle: Handle | None = getattr(self._local, "handle", None)
        if handle is not None and handle.pid == os.getpid():
            self._local.handle = None
            handle.close()

    def _bring_up_to_date(self, *, create: bool) -> None:
        connection = self._open_handle().connection
        missing = missing_migrations(connection)
        if len(missing) == len(migrations()) and not create:
            raise StoreError(f"{self.name} has no gribmill tables yet: `gribmill db init` creates them")
        if missing:
            migrate(connection)
        if create or missing:
            set_up_role(connection)
        connection.execute(statement("events/adopt_restored").encode())

    def _enter(self, begin: str, tenant: str | None = None) -> tuple[Handle, PostgresTransaction]:
        try:
            handle = self._open_handle()
            handle.keep_time()
        except FAULTS as error:
            raise self._fault(error) from error
        return handle, PostgresTransaction(handle, self.clock or handle.now, begin, tenant)

    def _open_handle(self) -> Handle:
        handle: Handle | None = getattr(self._local, "handle", None)
        if handle is not None and handle.pid == os.getpid() and not handle.connection.closed:
            return handle
        if handle is not None and handle.pid != os.getpid():
            _carried_over_fork.append(handle)
        self._local.handle = handle = Handle(self.dsn, self._lease_seconds)
        return handle

    def _fault(self, error: Exception) -> Exception:
        if self.tenant is not None and isinstance(error, InsufficientPrivilege):
            return StatementRefused(f"{self.name}: row-level security refused a row of another tenant")
        fault = fault_of(error, self.name)
        if isinstance(fault, StoreReadOnly):
            self.close()  # another server may have become the primary
        elif lost_connection(error):
            self._announcer.close()
        return fault


def _take_turn(
    tx: PostgresTransaction,
    handle: Handle,
    worker_id: str,
    reports: Sequence[tuple[Report, Succeeded]],
    claims: Sequence[ClaimRequest],
) -> tuple[Exchange, bool]:
    """Send completions, claims and the commit in one round trip.

    Returns what was committed, and whether work remains: dependents to settle, or a claim among several tenants.
    """
    calls: list[NamedCall] = [completing(tx, worker_id, reports)] if reports else []
    ids = completed_ids(calls[0]) if calls else NONE
    if not claims:
        calls.append(noting(ids))
    for request in claims:
        calls += claiming(tx, request, settled=False, ended=ids)
        ids = NONE
    results = handle.commit_all([(statement(name), params) for name, params in calls])
    accepted: list[AttemptRef] = []
    fenced: list[AttemptRef] = []
    if reports:
        completed, *results = results
        for (report, _), ended in zip(reports, which_ended(completed, reports), strict=True):
            (accepted if ended else fenced).append(report.ref)
    if not claims:
        return Exchange(tuple(accepted), tuple(fenced), ()), bool(results[0].rows)
    left = False
    batches: list[tuple[Claimed, ...]] = []
    for prepared, taken in zip(results[::2], results[1::2], strict=True):
        facts, batch = read_claim(prepared, taken)
        batches.append(tuple(batch))
        left |= facts.unsettled or ((facts.due or facts.has_rivals) and not batch)
    return Exchange(tuple(accepted), tuple(fenced), tuple(batches)), left
