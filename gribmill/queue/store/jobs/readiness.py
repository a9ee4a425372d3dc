"""Why a pending job does not start: reasons of the job itself, its type and its tenant."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from gribmill.database.protocol import Snapshot
from gribmill.queue.model import Job, Reservation
from gribmill.queue.times import to_rfc3339

EVERYTHING = "*"


class _TypeState(NamedTuple):
    key: str
    is_paused: bool
    is_active: bool
    max_running: int | None
    resources: tuple[str, ...]


class _TagLimit(NamedTuple):
    tag: str
    most: int


class _RunningTag(NamedTuple):
    tag: str
    batches: int


class _HeldTenant(NamedTuple):
    name: str
    is_disabled: bool
    max_running: int | None


class _Running(NamedTuple):
    type: str
    batches: int


@dataclass(frozen=True, slots=True)
class Readiness:
    """What keeps jobs from starting, as of one snapshot."""

    now: datetime
    held_back: dict[str, str]
    """Maps a type, or `*` for all, to the reason why none of its jobs starts."""
    known: frozenset[str]
    held_tenants: dict[str, str]
    """Maps a tenant to the reason why none of its jobs starts."""
    reserved: frozenset[str] = frozenset()
    """The types (or `*`) that are reserved."""

    def why_not(self, job: Job) -> str | None:
        """Why a pending job does not start now; None if it is ready."""
        if reason := self.holds_back(job):
            return reason
        if job.deps_left:
            return f"after {job.deps_left} other job{'s' if job.deps_left > 1 else ''}"
        if job.next_run_at is not None and job.next_run_at > self.now:
            return f"not before {to_rfc3339(job.next_run_at)}"
        return None

    def holds_back(self, job: Job) -> str | None:
        """What keeps all jobs of its type or tenant from starting; None if nothing does."""
        if job.type not in self.known:
            return "the type is not declared"
        return self.held_back.get(EVERYTHING) or self.held_back.get(job.type) or self.held_tenants.get(job.claimant)


def inactive_types(tx: Snapshot) -> frozenset[str]:
    """The inactive types: their jobs are neither accepted nor started."""
    return frozenset(kind.key for kind in tx.query(_TypeState, "types/list") if not kind.is_active)


def read_readiness(tx: Snapshot, worker_id: str | None = None) -> Readiness:
    """Read what keeps jobs from starting; for a given worker, without reservations that it shares."""
    types = tx.query(_TypeState, "types/list")
    running = {one.type: one.batches for one in tx.query(_Running, "listing/running_batches")}
    full = _full_resources(tx)
    held_back: dict[str, str] = {}
    for kind in types:
        if kind.max_running is not None and running.get(kind.key, 0) >= kind.max_running:
            held_back[kind.key] = f"limit: {kind.max_running} of this type at once"
        if tag := next((tag for tag in kind.resources if tag in full), None):
            held_back[kind.key] = f"limit: {full[tag]} at once of the resource {tag}"
        if kind.is_paused:
            held_back[kind.key] = "type is paused"
        if not kind.is_active:
            held_back[kind.key] = "type is inactive"
    reservations = tx.query(Reservation, "reservations/against", {"worker_id": worker_id})
    for one in reservations:
        held_back[one.scope] = f"reserved by {one.reserved_by} until {to_rfc3339(one.expires_at)}"
    known, reserved = frozenset(kind.key for kind in types), frozenset(one.scope for one in reservations)
    return Readiness(tx.now, held_back, known, _held_tenants(tx), reserved)


def _held_tenants(tx: Snapshot) -> dict[str, str]:
    found = tx.query(_HeldTenant, "tenants/held")
    return {
        one.name: "tenant is disabled" if one.is_disabled else f"tenant limit: {one.max_running} in flight at once"
        for one in found
    }


def _full_resources(tx: Snapshot) -> dict[str, int]:
    """The resource tags that are at their limit, with that limit."""
    limits = {one.tag: one.most for one in tx.query(_TagLimit, "types/resource_limits")}
    if not limits:
        return {}
    running = {one.tag: one.batches for one in tx.query(_RunningTag, "types/running_by_tag")}
    return {tag: most for tag, most in limits.items() if running.get(tag, 0) >= most}
