"""The queue as a plain Python model, a dict and a sort: slow and obvious, for comparison with the store."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from gribmill.queue.model import (
    DEFAULT_TENANT,
    FINISHED,
    AttemptRef,
    Failed,
    NewJob,
    Outcome,
    RetryPolicy,
    Snoozed,
    Stopped,
    Succeeded,
)
from tests.queue.store.sample_types import TYPES


def moment(seconds: float) -> int:
    """Milliseconds, as the database rounds them."""
    return round(seconds * 1000)


@dataclass
class PlainAttempt:
    """One run of a job."""

    status: str = "running"
    finished: int | None = None


@dataclass
class PlainJob:
    """One job of the model. Times are milliseconds."""

    id: int
    type: str
    priority: int
    created: int
    max_attempts: int
    tenant: str
    dedupe: str | None
    group: str | None
    status: str = "pending"
    position: int = 0
    next_run: int | None = None
    parents: dict[int, str] = field(default_factory=dict)
    deps_left: int = 0
    attempt_no: int = 0
    retry_count: int = 0
    worker: str | None = None
    lease: int | None = None
    batch: int | None = None
    cancel_requested: bool = False
    dead: bool = False
    completed: int | None = None
    retry_of: int | None = None
    group_id: int | None = None
    template_id: int | None = None
    attempts: list[PlainAttempt] = field(default_factory=list)

    @property
    def place(self) -> tuple[int, int, int, int]:
        return (-self.priority, self.position, self.created, self.id)

    @property
    def ready(self) -> bool:
        return self.status == "pending" and self.next_run is None and self.deps_left == 0

    @property
    def active(self) -> bool:
        return self.status not in FINISHED


@dataclass
class PlainGroup:
    """A group of jobs. In a sequential group each job waits for all earlier ones."""

    sequential: bool
    on_failure: str
    created: int
    stopped: bool = False

    @property
    def link(self) -> Literal["cancel", "ignore"]:
        return "cancel" if self.on_failure == "stop" else "ignore"


class PlainQueue:
    """The expected behaviour, written as directly as possible."""

    def __init__(self) -> None:
        self.now = 0.0
        self.jobs: dict[int, PlainJob] = {}
        self.paused: set[str] = set()
        self.turns: dict[tuple[tuple[str, ...], int], str] = {}
        self.reservations: dict[str, tuple[str, int]] = {}  # id -> (scope, expires)
        self.groups: dict[int, PlainGroup] = {}
        self.failures = 0
        """Failed jobs whose event was not dispatched yet."""

    @property
    def ms(self) -> int:
        return moment(self.now)

    def in_order(self, status: str = "pending") -> list[PlainJob]:
        return sorted((job for job in self.jobs.values() if job.status == status), key=lambda job: job.place)

    # Enqueueing

    def duplicate_of(self, tenant: str, dedupe: str | None) -> PlainJob | None:
        if dedupe is None:
            return None
        return next((j for j in self.jobs.values() if j.active and (j.tenant, j.dedupe) == (tenant, dedupe)), None)

    def enqueue(self, new: NewJob, job_id: int, args_text: str, group: str | None) -> bool:
        """Add the job under the id that the store gave it; False if it is a duplicate."""
        kind = TYPES[new.type]
        dedupe = new.dedupe_key or kind.dedupe_key_of(args_text, new.tenant_id)
        ended = {parent: self.jobs[parent].status for parent in new.after if not self.jobs[parent].active}
        broken = new.on_parent_failure == "cancel" and any(how != "completed" for how in ended.values())
        if not broken and (there := self.duplicate_of(new.tenant_id, dedupe)):
            assert there.id == job_id, f"the duplicate is {there.id}, the store says {job_id}"
            return False
        assert job_id not in self.jobs
        job = PlainJob(
            job_id, new.type, new.priority, self.ms, new.max_attempts or kind.max_attempts, new.tenant_id, dedupe, group
        )
        job.next_run = moment(self.now + new.delay_seconds) if new.delay_seconds else None
        job.group_id, job.template_id = new.group_id, new.template_id
        if broken:
            job.status, job.completed = "cancelled", self.ms
        else:
            waiting = {parent for parent in new.after if self.jobs[parent].active}
            job.parents = dict.fromkeys(waiting, new.on_parent_failure)
            job.deps_left = len(waiting)
        self._place(job)
        return True

    def _place(self, job: PlainJob) -> None:
        """Add a new job, behind all others of its priority if one of them is parked."""
        parked = [other.position for other in self.in_order() if other.priority == job.priority and other.position > 0]
        if parked and job.status == "pending":
            job.position = max(parked) + 100
        self.jobs[job.id] = job

    # Claims

    def held_back(self, kind: str, joined: int | None = None) -> bool:
        if kind in self.paused:
            return True
        if any(scope in ("*", kind) and expires > self.ms for scope, expires in self.reservations.values()):
            return True
        limit = TYPES[kind].max_running
        running = {j.batch for j in self.jobs.values() if j.status == "processing" and j.type == kind} - {joined}
        return limit is not None and len(running) >= limit

    def claim(self, worker: str, types: tuple[str, ...], lease: float, limit: int | None) -> list[AttemptRef]:
        for job in self.jobs.values():
            if job.status == "pending" and job.next_run is not None and job.next_run <= self.ms:
                job.next_run = None
        ready = [job for job in self.in_order() if job.ready and job.type in types and not self.held_back(job.type)]
        if not ready:
            return []
        head = self._in_turn(ready, types)
        most = TYPES[head.type].batch_max
        batch = [head]
        if head.group is not None and not head.retry_count:
            kin = (head.type, head.group, head.tenant, 0)
            others = [job for job in ready if job is not head]
            batch += [job for job in others if (job.type, job.group, job.tenant, job.retry_count) == kin]
        return self._start(batch[: min(most, limit or most)], head.id, worker, lease)

    def _in_turn(self, ready: list[PlainJob], types: tuple[str, ...]) -> PlainJob:
        """Tenants of the highest priority take turns, once any other than the default one has ready jobs."""
        if all(job.tenant == "global" for job in self.jobs.values() if job.ready):
            return ready[0]
        top = ready[0].priority
        after = self.turns.get((types, top), "")
        head = min(
            (job for job in ready if job.priority == top), key=lambda job: (job.tenant <= after, job.tenant, job.place)
        )
        self.turns[types, top] = head.tenant
        return head

    def top_up(self, worker: str, ref: AttemptRef, batch: int, limit: int, lease: float) -> list[AttemptRef]:
        head = self.jobs[ref.job_id]
        if not self.holds(worker, ref) or self.held_back(head.type, joined=batch):
            return []
        if head.group is None or head.retry_count:
            return []
        same = (head.type, head.group, head.tenant, 0)
        ready = [j for j in self.in_order() if j.ready and j is not head]
        kin = [j for j in ready if (j.type, j.group, j.tenant, j.retry_count) == same]
        return self._start(kin[:limit], batch, worker, lease)

    def _start(self, jobs: list[PlainJob], batch: int, worker: str, lease: float) -> list[AttemptRef]:
        for job in jobs:
            job.status, job.worker, job.batch = "processing", worker, batch
            job.lease = moment(self.now + lease)
            job.attempt_no += 1
            job.attempts.append(PlainAttempt())
        return [AttemptRef(job.id, job.attempt_no) for job in jobs]

    # Ending

    def holds(self, worker: str, ref: AttemptRef) -> bool:
        job = self.jobs.get(ref.job_id)
        return bool(job and job.status == "processing" and job.attempt_no == ref.attempt_no and job.worker == worker)

    def finish(self, worker: str, ref: AttemptRef, outcome: Outcome) -> bool:
        if not self.holds(worker, ref):
            return False
        job = self.jobs[ref.job_id]
        if isinstance(outcome, Succeeded):
            self._end(job, "completed", "skipped" if outcome.skipped else "succeeded")
        elif isinstance(outcome, Stopped) or job.cancel_requested:
            self._end(job, "cancelled", "cancelled")
        elif isinstance(outcome, Snoozed) and self._has_polled_enough(job):
            self._end(job, "failed", "failed", dead=True)
        elif isinstance(outcome, Snoozed):
            self._back(job, "snoozed", moment(self.now + outcome.seconds) if outcome.seconds > 0 else None)
        else:
            self._failed(job, outcome)
        return True

    def _has_polled_enough(self, job: PlainJob) -> bool:
        limit = TYPES[job.type].poll_limit
        return limit is not None and job.attempt_no - job.retry_count > limit

    def _failed(self, job: PlainJob, outcome: Failed) -> None:
        how = "timeout" if outcome.timeout else "failed"
        if not outcome.permanent and job.retry_count + 1 < job.max_attempts:
            self._retry(job, how)
        else:
            self._end(job, "failed", how, dead=not outcome.permanent)

    def _retry(self, job: PlainJob, how: str) -> None:
        job.retry_count += 1
        kind = TYPES[job.type]
        policy = RetryPolicy(kind.backoff_base_s, kind.backoff_cap_s)
        wait = policy.wait_seconds(job.retry_count, AttemptRef(job.id, job.attempt_no))
        self._back(job, how, moment(self.now + wait))

    def _back(self, job: PlainJob, how: str, next_run: int | None) -> None:
        job.attempts[-1] = PlainAttempt(how, self.ms)
        job.status, job.worker, job.lease, job.next_run = "pending", None, None, next_run

    def _end(self, job: PlainJob, status: str, how: str | None = None, *, dead: bool = False) -> None:
        if how is not None:
            job.attempts[-1] = PlainAttempt(how, self.ms)
        job.status, job.worker, job.lease, job.next_run = status, None, None, None
        job.completed, job.dead = self.ms, dead
        for child in list(self.jobs.values()):
            if child.status == "pending" and job.id in child.parents:
                if status == "completed" or child.parents[job.id] == "ignore":
                    child.deps_left -= 1
                else:
                    self._end(child, "cancelled")
        if status == "failed":
            self.failures += job.tenant == DEFAULT_TENANT  # its triggers do not see what other tenants do
            if job.group_id is not None and self.groups[job.group_id].on_failure == "stop":
                self.stop_group(job.group_id)

    def stop_group(self, group_id: int) -> int:
        """Cancel the group's waiting jobs; returns how many there were."""
        self.groups[group_id].stopped = True
        waiting = [job for job in self.members(group_id) if job.status == "pending"]
        for job in waiting:
            if job.status == "pending":
                self._end(job, "cancelled")
        return len(waiting)

    def join_group(self, job_id: int, behind: int) -> None:
        """Add a follow-up job to a group: jobs that wait for its predecessor wait for it too."""
        group_id = self.jobs[job_id].group_id
        if group_id is None:
            return
        group = self.groups[group_id]
        if group.stopped:
            self._end(self.jobs[job_id], "cancelled")
        elif group.sequential:
            for other in self.members(group_id):
                if other.status == "pending" and behind in other.parents:
                    other.parents[job_id] = group.link
                    other.deps_left += 1

    def last_of(self, group_id: int) -> tuple[int, ...]:
        """The jobs that the next job of a sequential group waits for."""
        active = [job for job in self.members(group_id) if job.active]
        awaited = {parent for job in active if job.status == "pending" for parent in job.parents}
        return tuple(job.id for job in active if job.id not in awaited)

    def members(self, group_id: int) -> list[PlainJob]:
        return [job for job in self.jobs.values() if job.group_id == group_id]

    def recover(self) -> set[int]:
        lost = [
            j for j in self.jobs.values() if j.status == "processing" and j.lease is not None and j.lease <= self.ms
        ]
        for job in lost:
            if job.cancel_requested:
                self._end(job, "cancelled", "lost")
            elif TYPES[job.type].on_lost == "retry" and job.retry_count + 1 < job.max_attempts:
                self._retry(job, "lost")
            else:
                self._end(job, "failed", "lost", dead=True)
        return {job.id for job in lost}

    def heartbeat(self, worker: str, lease: float) -> dict[AttemptRef, bool]:
        held = [job for job in self.jobs.values() if job.status == "processing" and job.worker == worker]
        for job in held:
            job.lease = moment(self.now + lease)
        return {AttemptRef(job.id, job.attempt_no): job.cancel_requested for job in held}

    # Operators

    def cancel(self, job_id: int) -> str | None:
        job = self.jobs[job_id]
        if not job.active:
            return None
        if job.status == "pending":
            self._end(job, "cancelled")
            return "cancelled"
        job.cancel_requested = True
        return "requested"

    def retry(self, old: PlainJob, job_id: int, after: tuple[int, ...] = (), link: str = "cancel") -> bool:
        """Add the copy under the store's id; False if the job was retried before, or an equal one is active."""
        if retries := [job.id for job in self.jobs.values() if job.retry_of == old.id]:
            assert max(retries) == job_id
            return False
        if there := self.duplicate_of(old.tenant, old.dedupe):
            assert there.id == job_id
            return False
        again = (job_id, old.type, old.priority, self.ms, old.max_attempts, old.tenant, old.dedupe, old.group)
        copy = PlainJob(*again, retry_of=old.id, group_id=old.group_id, template_id=old.template_id)
        copy.parents, copy.deps_left = dict.fromkeys(after, link), len(after)
        self._place(copy)
        return True

    def prune(self, completed_days: float, failed_days: float) -> tuple[int, int]:
        ages = {"completed": completed_days, "cancelled": completed_days, "failed": failed_days}
        gone = [
            job
            for job in self.jobs.values()
            if job.completed is not None
            and job.status in ages
            and job.completed < moment(self.now - ages[job.status] * 86_400.0)
        ]
        for job in gone:
            del self.jobs[job.id]
        for job in self.jobs.values():
            if job.retry_of not in self.jobs:
                job.retry_of = None
            if job.status == "pending" and job.next_run is not None:
                self._prune_attempts(job, moment(self.now - completed_days * 86_400.0))
        empty = self.groups.keys() - {job.group_id for job in self.jobs.values()}
        for group_id in empty:
            if self.groups[group_id].created < moment(self.now - completed_days * 86_400.0):
                del self.groups[group_id]
        failed = sum(job.status == "failed" for job in gone)
        return len(gone) - failed, failed

    def _prune_attempts(self, job: PlainJob, before: int) -> None:
        while len(job.attempts) > 1:
            finished = job.attempts[0].finished
            if finished is None or finished >= before:
                return
            del job.attempts[0]
