"""Job groups: creating, adding jobs, following, cancelling, retrying."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from gribmill.database.protocol import Snapshot, Transaction
from gribmill.queue.errors import BadArguments, GroupNotFound, NotAllowed
from gribmill.queue.model import (
    DEFAULT_TENANT,
    Enqueued,
    GroupMode,
    GroupProgress,
    JobGroup,
    NewJob,
    OnGroupFailure,
    PreparedJob,
)
from gribmill.queue.store.base import ID_LIMIT, Facet, retried
from gribmill.queue.store.tenants import refuse_disabled

# A longer transaction would delay claims.
CHUNK = 1000
NAME_LIMIT = 200
PAGE_LIMIT = 1000


class _Id(NamedTuple):
    id: int


class _Retryable(NamedTuple):
    id: int
    type: str


class _Count(NamedTuple):
    type: str
    status: str
    n: int


class GroupCancelled(NamedTuple):
    """How many jobs were cancelled before they started, and how many running ones were asked to stop."""

    cancelled: int
    requested: int


class Groups(Facet):
    """In a sequential group each job waits for the one before it. Status and progress are derived from the jobs."""

    @retried
    def open(
        self,
        name: str,
        *,
        mode: GroupMode | None = None,
        on_failure: OnGroupFailure | None = None,
        tenant_id: str = DEFAULT_TENANT,
        created_by: str | None = None,
    ) -> JobGroup:
        """Get or create the group (default: parallel, continue). NotAllowed if it exists with other options."""
        if not 0 < len(name) <= NAME_LIMIT or not name.isprintable():
            raise BadArguments(f"the name of a group is 1 to {NAME_LIMIT} printable characters")
        key = {"tenant_id": tenant_id, "name": name}
        wanted = {"mode": mode or "parallel", "on_failure": on_failure or "continue", "created_by": created_by}
        with self.database.write() as tx:
            refuse_disabled(tx, tenant_id)
            tx.change("groups/insert", {**key, **wanted})
            group = tx.first(JobGroup, "groups/by_name", key)
        assert group is not None  # inserted now, or already there
        for what, given, stored in (("", mode, group.mode), ("on failure ", on_failure, group.on_failure)):
            if given is not None and given != stored:
                raise NotAllowed(f"the group {name} is {what}{stored}, not {given}: that cannot be changed")
        return group

    def add(self, group_id: int, jobs: Iterable[NewJob]) -> list[Enqueued]:
        """Enqueue jobs of a group in order. Validates all of them first, then writes a thousand per transaction."""
        self.registry.refresh()
        prepared = [self.registry.prepare(job) for job in jobs]
        self.registry.refuse_inactive({job.type for job in prepared})
        rest = iter(prepared)
        results: list[Enqueued] = []
        while chunk := [*islice(rest, CHUNK)]:
            results += self._add(group_id, chunk)
            self.database.announce()
        return results

    @retried
    def _add(self, group_id: int, jobs: Sequence[PreparedJob]) -> Sequence[Enqueued]:
        with self.database.write() as tx:
            group = _locked(tx, group_id)
            if group.stopped_at is not None:
                raise NotAllowed(f"the group {group.name} was stopped: retry it before you add jobs")
            refuse_disabled(tx, group.tenant_id)
            mine = [_member(group, job) for job in jobs]
            made = _append(tx, group, mine) if group.mode == "sequential" else tx.insert_jobs(mine)
            _check_limits(tx, group)
        return made

    def find(self, name: str, tenant_id: str = DEFAULT_TENANT) -> JobGroup:
        """The group of that name, or GroupNotFound."""
        with self.database.read() as tx:
            group = tx.first(JobGroup, "groups/by_name", {"tenant_id": tenant_id, "name": name})
        if group is None:
            raise GroupNotFound(f"there is no group {name} of the tenant {tenant_id}")
        return group

    def get(self, group_id: int) -> JobGroup:
        with self.database.read() as tx:
            return _get(tx, group_id)

    def progress(self, group_id: int) -> GroupProgress:
        """Status and progress, from one snapshot."""
        with self.database.read() as tx:
            return _progress(tx, _get(tx, group_id))

    def counts(self, group_id: int) -> dict[tuple[str, str], int]:
        """The number of jobs in a group by (type, status)."""
        with self.database.read() as tx:
            found = tx.query(_Count, "groups/counts", {"group_id": group_id})
        return {(one.type, one.status): one.n for one in found}

    @retried
    def cancel(self, group_id: int, reason: str = "the group was cancelled") -> GroupCancelled:
        """Cancel jobs that have not started, ask running ones to stop, and let no follow-up job start."""
        with self.database.write() as tx:
            group = _locked(tx, group_id)
            tx.change("groups/stop", {"group_id": group.id})
            cancelled = tx.cancel_group(group.id, reason)
            running = tx.query(_Id, "groups/running", {"group_id": group.id})
            requested = sum(tx.cancel(job.id, reason) is not None for job in running)
        self.database.announce()
        return GroupCancelled(cancelled, requested)

    @retried
    def resume(self, group_id: int) -> None:
        """Let jobs be added to a stopped group again."""
        with self.database.write() as tx:
            tx.change("groups/reopen", {"group_id": _locked(tx, group_id).id})

    def retry(self, group_id: int, *, cancelled: bool = False, created_by: str | None = None) -> list[Enqueued]:
        """Retry the failed jobs, in order.

        Cancelled jobs are included with `cancelled`, or if the group stops at a failure.
        """
        self.registry.refresh()
        made: list[Enqueued] = []
        above = 0
        while True:
            chosen, again = self._retry(group_id, above, created_by, cancelled=cancelled)
            made += again
            self.database.announce()
            if len(chosen) < CHUNK:
                return made
            above = chosen[-1]

    @retried
    def _retry(
        self, group_id: int, above: int, created_by: str | None, *, cancelled: bool
    ) -> tuple[Sequence[int], Sequence[Enqueued]]:
        """Retry one chunk of jobs; return the chunk and the new jobs."""
        with self.database.write() as tx:
            group = _locked(tx, group_id)
            tx.change("groups/reopen", {"group_id": group.id})
            wanted = {"group_id": group.id, "cancelled": cancelled or group.on_failure == "stop"}
            chosen = tx.query(_Retryable, "groups/retryable", {**wanted, "above": above, "limit": CHUNK})
            self.registry.refuse_inactive({job.type for job in chosen})
            ids = [job.id for job in chosen]
            made = _retry_all(tx, group, ids, created_by)
            _check_limits(tx, group)
        return ids, made

    def list(
        self, tenant_id: str | None = None, *, limit: int = 50, before: int | None = None
    ) -> Sequence[GroupProgress]:
        """The groups with their progress, newest first."""
        params = {"tenant_id": tenant_id, "before": before, "limit": max(1, min(limit, PAGE_LIMIT))}
        with self.database.read() as tx:
            return [_progress(tx, group) for group in tx.query(JobGroup, "groups/list", params)]


def join_follow_ups(tx: Transaction, group_id: int, job_id: int, made: Sequence[Enqueued]) -> None:
    """Add a group job's follow-up jobs to the group: they are cancelled if the group was stopped meanwhile, and the
    next job of a sequential group also waits for them."""
    group = _get(tx, group_id)
    new = [one.id for one in made if one.created]
    if group.stopped_at is not None:
        for one in new:
            tx.cancel(one, "the group was stopped")
        return
    if group.mode == "parallel":
        return
    for successor in tx.query(_Id, "groups/successors", {"job_id": job_id, "group_id": group_id}):
        for one in new:
            link = {"parent_id": one, "job_id": successor.id, "on_failure": _link(group)}
            tx.change("dependencies/insert", link)
            tx.change("groups/await", {"job_id": successor.id})


def _check_limits(tx: Transaction, group: JobGroup) -> None:
    """Raise TenantLimit if the group's tenant exceeds its limits, which rolls back all the new jobs."""
    if group.tenant_id != DEFAULT_TENANT:
        tx.check_tenant_limits(group.tenant_id)


def _member(group: JobGroup, job: PreparedJob) -> PreparedJob:
    owner = job.requested_by or job.tenant_id
    if owner != group.tenant_id:
        raise BadArguments(f"the group {group.name} belongs to {group.tenant_id}, the job to {owner}")
    return job._replace(group_id=group.id)


def _append(tx: Transaction, group: JobGroup, jobs: Sequence[PreparedJob]) -> list[Enqueued]:
    """Let each job wait for the previous one. If an equal job is active, wait for that instead."""
    tails = _tails(tx, group)
    made: list[Enqueued] = []
    for job in jobs:
        if job.after:
            raise BadArguments(f"jobs of the sequential group {group.name} wait for the one before, not for others")
        (one,) = tx.insert_jobs([job._replace(after=tails, on_parent_failure=_link(group))])
        made.append(one)
        tails = (one.id,) if one.created else (*tails, one.id)
    return made


def _retry_all(tx: Transaction, group: JobGroup, ids: Sequence[int], created_by: str | None) -> list[Enqueued]:
    sequential = group.mode == "sequential"
    tails = _tails(tx, group) if sequential else ()
    made: list[Enqueued] = []
    for job_id in ids:
        one = tx.retry(job_id, created_by, tails, _link(group))
        if one is None:
            continue
        made.append(one)
        if sequential:
            tails = (one.id,) if one.created else (*tails, one.id)
    return made


def _tails(tx: Snapshot, group: JobGroup) -> tuple[int, ...]:
    return tuple(job.id for job in tx.query(_Id, "groups/tails", {"group_id": group.id}))


def _link(group: JobGroup) -> str:
    """How a failure affects the next job of a sequential group."""
    return "cancel" if group.on_failure == "stop" else "ignore"


def _locked(tx: Transaction, group_id: int) -> JobGroup:
    """The group, locked: no other transaction adds to it, stops it or retries it meanwhile."""
    if 0 < group_id < ID_LIMIT:
        tx.change("groups/lock", {"group_id": group_id})
    return _get(tx, group_id)


def find_group(tx: Snapshot, group_id: int) -> JobGroup | None:
    return tx.first(JobGroup, "groups/get", {"group_id": group_id}) if 0 < group_id < ID_LIMIT else None


def _get(tx: Snapshot, group_id: int) -> JobGroup:
    group = find_group(tx, group_id)
    if group is None:
        raise GroupNotFound(f"there is no group {group_id}; it may have been pruned")
    return group


def _progress(tx: Snapshot, group: JobGroup) -> GroupProgress:
    counts = Counter[str]()
    for one in tx.query(_Count, "groups/counts", {"group_id": group.id}):
        counts[one.status] += one.n
    return GroupProgress.of(group, counts)
