"""The job groups of one tenant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from gribmill.queue.errors import GroupNotFound
from gribmill.queue.model import Enqueued, GroupMode, GroupProgress, JobGroup, NewJob, OnGroupFailure
from gribmill.queue.store.jobs.groups import GroupCancelled, Groups
from gribmill.queue.store.scope.jobs import TenantJobs


class TenantGroups:
    """Names are unique per tenant; other tenants may use the same ones."""

    def __init__(self, groups: Groups, jobs: TenantJobs, tenant_id: str) -> None:
        self._groups = groups
        self._jobs = jobs
        self._tenant_id = tenant_id

    def open(
        self,
        name: str,
        *,
        mode: GroupMode | None = None,
        on_failure: OnGroupFailure | None = None,
        created_by: str | None = None,
    ) -> JobGroup:
        mine = self._tenant_id
        return self._groups.open(name, mode=mode, on_failure=on_failure, tenant_id=mine, created_by=created_by)

    def add(self, group_id: int, jobs: Iterable[NewJob]) -> Sequence[Enqueued]:
        self.get(group_id)
        return self._groups.add(group_id, [self._jobs.mine(replace(job, group_id=None)) for job in jobs])

    def find(self, name: str) -> JobGroup:
        return self._groups.find(name, self._tenant_id)

    def get(self, group_id: int) -> JobGroup:
        group = self._groups.get(group_id)
        if group.tenant_id != self._tenant_id:
            raise GroupNotFound(f"there is no group {group_id}; it may have been pruned")
        return group

    def list(self, *, limit: int = 50, before: int | None = None) -> Sequence[GroupProgress]:
        return self._groups.list(self._tenant_id, limit=limit, before=before)

    def progress(self, group_id: int) -> GroupProgress:
        self.get(group_id)
        return self._groups.progress(group_id)

    def counts(self, group_id: int) -> Mapping[tuple[str, str], int]:
        self.get(group_id)
        return self._groups.counts(group_id)

    def cancel(self, group_id: int, reason: str = "the group was cancelled") -> GroupCancelled:
        self.get(group_id)
        return self._groups.cancel(group_id, reason)

    def resume(self, group_id: int) -> None:
        self.get(group_id)
        self._groups.resume(group_id)

    def retry(self, group_id: int, *, cancelled: bool = False, created_by: str | None = None) -> Sequence[Enqueued]:
        self.get(group_id)
        return self._groups.retry(group_id, cancelled=cancelled, created_by=created_by)
