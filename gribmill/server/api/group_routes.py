"""Job groups: jobs that are followed, cancelled and retried as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import Response
from pydantic import Field

from gribmill.queue.model import Enqueued, GroupMode, GroupProgress, OnGroupFailure
from gribmill.queue.store.jobs.groups import GroupCancelled
from gribmill.server.api.scope import Scope
from gribmill.server.api.values import Cursor, Name, PageLimit, PathId, RequestBody, Text
from gribmill.server.change import CurrentChange
from gribmill.server.context import Server
from gribmill.server.router import SecuredRouter
from gribmill.views.queue.job_group import JobGroupView
from gribmill.views.queue.job_result import EnqueuedView
from gribmill.views.view import View

router = SecuredRouter("/api/v1/groups", tag="groups")


class NewGroupBody(RequestBody):
    """A group to open. An existing group with the same name and options is returned."""

    name: Name
    mode: GroupMode | None = None
    on_failure: OnGroupFailure | None = None


class CancelGroupBody(RequestBody):
    """Why a group is cancelled."""

    reason: Annotated[Text, Field(max_length=1000)] = "the group was cancelled"


class RetryGroupBody(RequestBody):
    """With `canceled`, retry cancelled jobs too."""

    canceled: bool = False


class CanceledGroup(View):
    """How many jobs had not started, and how many were asked to stop."""

    canceled: int
    requested: int


@router.get("")
async def list_groups(
    server: Server, scope: Scope, limit: PageLimit = 50, cursor: Cursor = None
) -> tuple[JobGroupView, ...]:
    """List groups with their progress, newest first. The cursor is the id of the last one."""

    def look() -> tuple[JobGroupView, ...]:
        return tuple(map(JobGroupView.of, server.store.groups.list(scope.tenant_id, limit=limit, before=cursor)))

    return await server.run(look)


@router.post("", status_code=201)
async def open_group(
    body: NewGroupBody, server: Server, scope: Scope, change: CurrentChange, response: Response
) -> JobGroupView:
    """Open a group. Add jobs to it with `group_id`."""

    def open_it() -> GroupProgress:
        group = scope.acting().groups.open(
            body.name, mode=body.mode, on_failure=body.on_failure, created_by=scope.by
        )  # fmt: skip
        return server.store.groups.progress(group.id)

    progress = await server.run(open_it)
    change.tenant_id, change.object = progress.group.tenant_id, f"group {progress.group.id}"
    change.after = {"name": progress.group.name}
    response.headers["Location"] = f"/api/v1/groups/{progress.group.id}"
    return JobGroupView.of(progress)


@router.get("/{group_id}")
async def show_group(group_id: PathId, server: Server, scope: Scope) -> JobGroupView:
    """Show a group and its progress."""
    return JobGroupView.of(await server.run(lambda: scope.acting().groups.progress(group_id)))


@router.post("/{group_id}/cancel")
async def cancel_group(
    group_id: PathId, server: Server, scope: Scope, change: CurrentChange, body: CancelGroupBody | None = None
) -> CanceledGroup:
    """Cancel jobs that have not started, and ask running ones to stop."""
    change.object = f"group {group_id}"
    reason = (body or CancelGroupBody()).reason

    def cancel() -> GroupCancelled:
        groups = scope.acting().groups
        change.tenant_id = groups.progress(group_id).group.tenant_id
        return groups.cancel(group_id, reason)

    done = await server.run(cancel)
    view = CanceledGroup(canceled=done.cancelled, requested=done.requested)
    change.after = view.model_dump()
    return view


@router.post("/{group_id}/retry", status_code=201)
async def retry_group(
    group_id: PathId, server: Server, scope: Scope, change: CurrentChange, body: RetryGroupBody | None = None
) -> tuple[EnqueuedView, ...]:
    """Retry the failed jobs of a group."""
    change.object = f"group {group_id}"
    also = (body or RetryGroupBody()).canceled

    def retry() -> Sequence[Enqueued]:
        groups = scope.acting().groups
        change.tenant_id = groups.progress(group_id).group.tenant_id
        return groups.retry(group_id, cancelled=also, created_by=scope.by)

    made = await server.run(retry)
    change.after = {"jobs": [one.id for one in made[:100]]}
    return tuple(map(EnqueuedView.of, made))


@router.post("/{group_id}/resume")
async def resume_group(group_id: PathId, server: Server, scope: Scope, change: CurrentChange) -> JobGroupView:
    """Let jobs be added to a stopped group again."""

    def resume() -> GroupProgress:
        groups = scope.acting().groups
        groups.resume(group_id)
        return groups.progress(group_id)

    change.object = f"group {group_id}"
    progress = await server.run(resume)
    change.tenant_id = progress.group.tenant_id
    return JobGroupView.of(progress)
