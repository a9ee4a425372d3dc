"""Validating a job against its type before anything is written."""

from __future__ import annotations

from gribmill.database.records import storable
from gribmill.queue.errors import BadArguments, NotAllowed
from gribmill.queue.job_type import JobType, Registry, canonical_json
from gribmill.queue.model import DEFAULT_TENANT, NewJob, PreparedJob
from gribmill.queue.store.known_types import KnownTypes

PRIORITY_LIMIT = 2**31 - 1
DELAY_LIMIT_SECONDS = 10 * 366 * 86400.0
TIMEOUT_LIMIT_SECONDS = 7 * 86_400


def prepare(registry: Registry, job: NewJob) -> PreparedJob:
    """Validate a job and prepare it for writing; raises BadArguments or UnknownJobType."""
    kind = registry[job.type]
    check_job(job)
    if job.tenant_id != DEFAULT_TENANT or job.requested_by is not None:
        check_tenant_of_type(kind, job.tenant_id)
        check_request(kind, job)
    text, args = kind.encode({**kind.default_args, **job.args} if kind.default_args else job.args)
    return PreparedJob(
        job.type,
        job.priority,
        job.max_attempts or kind.max_attempts,
        job.tenant_id,
        job.source,
        storable(job.source_ref),
        storable(job.correlation_id),
        storable(job.created_by),
        text,
        kind.group_by(args) if kind.group_by else None,
        storable(job.dedupe_key) or (kind.dedupe_key_of(text, job.tenant_id) if kind.dedupe else None),
        None,
        job.delay_seconds,
        job.after,
        job.on_parent_failure,
        job.run_at,
        job.timeout_seconds,
        job.group_id,
        job.template_id,
        None if job.requested_by == DEFAULT_TENANT else job.requested_by,
    )


def dedupe_key_of(registry: Registry, job: NewJob) -> str | None:
    """The dedupe key that a job will have. Its arguments must be valid; they are not checked."""
    kind = registry[job.type]
    args = {name: value for name, value in {**(kind.default_args or {}), **job.args}.items() if value is not None}
    return storable(job.dedupe_key) or kind.dedupe_key_of(canonical_json(args), job.tenant_id)


def check_tenant_of_type(kind: JobType, tenant_id: str) -> None:
    """Refuse a tenant for shared work, which belongs to `global`."""
    if kind.shared and tenant_id != DEFAULT_TENANT:
        raise BadArguments(f"{kind.key} is done once for all tenants: its jobs belong to {DEFAULT_TENANT}")


def check_open_to_tenants(registry: Registry, type_key: str | None) -> None:
    """Refuse a type whose jobs only operators may enqueue. Unknown types are left to other checks."""
    if type_key is not None and type_key in registry and registry[type_key].for_operators:
        raise BadArguments(f"only operators may enqueue {type_key} jobs")


def check_request(kind: JobType, job: NewJob) -> None:
    """Refuse `requested_by` unless the work is shared."""
    if job.requested_by is not None and not kind.shared:
        raise BadArguments(f"{kind.key} is not shared work: give its jobs to the tenant (tenant_id), not requested_by")


def check_job(job: NewJob) -> None:
    """Check the limits that apply to jobs of every type."""
    check_priority(job.priority)
    if job.delay_seconds is not None and not 0 <= job.delay_seconds <= DELAY_LIMIT_SECONDS:
        raise BadArguments(f"a delay of {job.delay_seconds} s is not between 0 and ten years")
    if job.run_at is not None and (job.delay_seconds is not None or job.run_at.tzinfo is None):
        raise BadArguments("a job starts after a delay or at an aware time, not both")
    if job.timeout_seconds is not None and not 1 <= job.timeout_seconds <= TIMEOUT_LIMIT_SECONDS:
        raise BadArguments(f"a timeout of {job.timeout_seconds} s is not between 1 s and a week")
    if job.max_attempts is not None and not 1 <= job.max_attempts <= 1000:
        raise BadArguments(f"max_attempts {job.max_attempts} is not between 1 and 1000")
    if not job.tenant_id or len(job.tenant_id) > 200:
        raise BadArguments("tenant_id must be 1 to 200 characters")


def check_priority(priority: int) -> None:
    """Refuse a priority that is out of range."""
    if not -PRIORITY_LIMIT <= priority <= PRIORITY_LIMIT:
        raise BadArguments(f"priority {priority} is beyond ±{PRIORITY_LIMIT}")


def refuse_inactive(registry: KnownTypes, types: set[str]) -> None:
    """Refuse jobs of inactive types, which would wait forever."""
    if off := types & registry.inactive:
        raise NotAllowed(f"{min(off)} is inactive: its jobs are neither accepted nor run")
