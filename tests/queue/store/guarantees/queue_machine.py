"""Random histories: every rule is applied to the store and to the plain model, which must stay equal."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from hypothesis import Phase
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from gribmill.queue.errors import NotAllowed, Reserved
from gribmill.queue.model import DEFAULT_TENANT, Claimed, Failed, NewJob, Outcome, Report, Snoozed, Stopped, Succeeded
from gribmill.queue.times import to_text
from tests.queue.store.guarantees.plain_queue import PlainJob, PlainQueue, moment
from tests.queue.store.sample_types import ALL, TYPES
from tests.queue.store.store_driver import asks
from tests.queue.store.tested_backend import BACKENDS, BackendUnderTest

WORKERS = ("w0", "w1", "w2")
LEASE = 60.0
PICK = st.integers(0, 1_000_000)
KINDS = st.sampled_from(ALL)
PRIORITIES = st.sampled_from((0, 0, 0, -1, 2))

OUTCOMES: st.SearchStrategy[Outcome] = st.one_of(
    st.just(Succeeded()),
    st.builds(Succeeded, skipped=st.just("nothing to do")),
    st.builds(Failed, st.just("broke"), permanent=st.booleans(), timeout=st.booleans()),
    st.builds(Snoozed, st.sampled_from((0.0, 5.0, 120.0))),
    st.just(Stopped()),
)


@st.composite
def new_jobs(draw: st.DrawFn) -> NewJob:
    kind = draw(KINDS)
    number = draw(st.integers(0, 2))
    args = {"n": number} if kind in ("plain", "unique", "fragile", "polling") else {"hour": number}
    return NewJob(
        kind,
        args,
        priority=draw(PRIORITIES),
        delay_seconds=draw(st.sampled_from((None, None, None, 1.0, 90.0))),
        dedupe_key=draw(st.sampled_from((None, None, "k1", "k2"))),
        max_attempts=draw(st.sampled_from((None, None, 1, 2))),
        tenant_id=draw(st.sampled_from(("global", "other"))),
        on_parent_failure=draw(st.sampled_from(("cancel", "ignore"))),
    )


class QueueMachine(RuleBasedStateMachine):
    """Three workers that may die, an operator and a clock."""

    backend_name = "sqlite"
    examples, steps = 25, 60  # fewer than ten reveal each fault of test_broken_variants.py
    phases: tuple[Phase, ...] = tuple(Phase)

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory(prefix="queue-machine-")
        self.backend: BackendUnderTest = BACKENDS[self.backend_name](Path(self._folder.name))
        self.store = self.backend.store
        self.plain = PlainQueue()
        self.plain.now = self.backend.clock()
        self.workers = {name: name for name in WORKERS}
        self.given: list[tuple[str, Claimed]] = []
        self.reserved: list[str] = []
        self.restarts = 0

    def teardown(self) -> None:
        self.backend.close()
        self._folder.cleanup()

    # Picking

    def job_at(self, pick: int) -> PlainJob:
        return list(self.plain.jobs.values())[-1 - pick % min(len(self.plain.jobs), 12)]

    def given_at(self, pick: int) -> tuple[str, Claimed]:
        """A ref given to some worker: often still held, sometimes lost long ago."""
        held = [pair for pair in self.given if self.plain.holds(pair[0], pair[1].ref)]
        among = held if held and pick % 4 else self.given
        return among[-1 - (pick // 4) % min(len(among), 12)]

    # Enqueueing

    @initialize(jobs=st.lists(new_jobs(), min_size=4, max_size=12))
    def begin_with_some(self, jobs: list[NewJob]) -> None:
        self.enqueue_together(jobs)

    @rule(jobs=st.lists(new_jobs(), min_size=2, max_size=6))
    def enqueue_together(self, jobs: list[NewJob]) -> None:
        for job, made in zip(jobs, self.store.jobs.enqueue_many(jobs), strict=True):
            assert made.created == self._take_in(job, made.id)

    @rule(job=new_jobs(), picks=st.lists(PICK, max_size=2))
    def enqueue(self, job: NewJob, picks: list[int]) -> None:
        after = tuple(self.job_at(pick).id for pick in picks) if self.plain.jobs else ()
        job = NewJob(**{**{name: getattr(job, name) for name in job.__slots__}, "after": after})
        made = self.store.jobs.enqueue(job)
        assert made.created == self._take_in(job, made.id)

    def _take_in(self, job: NewJob, job_id: int) -> bool:
        kind = TYPES[job.type]
        text, args = kind.encode(job.args)
        return self.plain.enqueue(job, job_id, text, kind.group_by(args) if kind.group_by else None)

    @rule(
        kind=st.sampled_from(("tile", "limited")),
        hour=st.integers(0, 1),
        priorities=st.lists(st.integers(0, 2), min_size=3, max_size=5),
    )
    def enqueue_siblings(self, kind: str, hour: int, priorities: list[int]) -> None:
        arguments = [{"hour": hour, "region": f"r{number}"} for number in range(len(priorities))]
        self.enqueue_together([NewJob(kind, args, priority=p) for args, p in zip(arguments, priorities, strict=True)])

    @rule(parents=st.lists(new_jobs(), min_size=1, max_size=3), children=st.lists(new_jobs(), min_size=1, max_size=3))
    def enqueue_family(self, parents: list[NewJob], children: list[NewJob]) -> None:
        for job in parents:
            self.enqueue(job, [])
        for job in children:
            self.enqueue(job, list(range(len(parents))))

    # Workers

    @rule(
        who=st.sampled_from(WORKERS),
        types=st.lists(KINDS, min_size=1, max_size=5, unique=True),
        limit=st.sampled_from((None, None, 1, 2)),
    )
    def claim(self, who: str, types: list[str], limit: int | None) -> None:
        worker = self.workers[who]
        batch = self.store.claim(asks(worker, tuple(types), LEASE, limit))
        expected = self.plain.claim(worker, tuple(types), LEASE, limit)
        assert [job.ref for job in batch] == expected
        self.given += [(worker, job) for job in batch]

    @rule(who=st.sampled_from(WORKERS))
    def claim_anything(self, who: str) -> None:
        self.claim(who, list(ALL), None)

    @precondition(lambda self: self.given)
    @rule(pick=PICK, limit=st.integers(1, 3))
    def top_up(self, pick: int, limit: int) -> None:
        worker, head = self.given_at(pick)
        if head.id not in self.plain.jobs:
            return
        batch = self.store.claim_siblings(asks(worker, lease=LEASE), head, limit)
        expected = self.plain.top_up(worker, head.ref, head.batch_id, limit, LEASE)
        assert [job.ref for job in batch] == expected
        self.given += [(worker, job) for job in batch]

    @rule(who=st.sampled_from(WORKERS), outcome=OUTCOMES)
    def work(self, who: str, outcome: Outcome) -> None:
        """The normal case: claim, run, report."""
        before = len(self.given)
        self.claim_anything(who)
        for worker, job in self.given[before:]:
            self.report(worker, job, outcome)

    @precondition(lambda self: self.given)
    @rule(pick=PICK, outcome=OUTCOMES)
    def finish(self, pick: int, outcome: Outcome) -> None:
        self.report(*self.given_at(pick), outcome)

    def report(self, worker: str, job: Claimed, outcome: Outcome) -> None:
        exchange = self.store.exchange(worker, [Report(job.ref, outcome)])
        assert bool(exchange.accepted) == self.plain.finish(worker, job.ref, outcome)
        assert bool(exchange.accepted) != bool(exchange.fenced)

    @precondition(lambda self: self.given)
    @rule(pick=PICK, then=new_jobs())
    def complete_with_a_follow_up_and_claim(self, pick: int, then: NewJob) -> None:
        worker, job = self.given_at(pick)
        last = max(self.plain.jobs, default=0)
        exchange = self.store.exchange(worker, [Report(job.ref, Succeeded(then=(then,)))], [asks(worker, lease=LEASE)])
        accepted = self.plain.finish(worker, job.ref, Succeeded())
        assert bool(exchange.accepted) == accepted
        if accepted:
            # A follow-up job belongs to the tenant of the job before it, unless it names another.
            then = replace(then, tenant_id=job.tenant_id if then.tenant_id == DEFAULT_TENANT else then.tenant_id)
            dedupe = then.dedupe_key or TYPES[then.type].dedupe_key_of(
                TYPES[then.type].encode(then.args)[0], then.tenant_id
            )
            there = self.plain.duplicate_of(then.tenant_id, dedupe)
            fresh = self.store.jobs.list(limit=1).jobs[0].id
            assert (fresh > last) == (there is None)
            if then.tenant_id == DEFAULT_TENANT:  # the machine's groups belong to it
                then = replace(then, group_id=self.plain.jobs[job.id].group_id)
            if self._take_in(then, there.id if there else fresh):
                self.plain.join_group(fresh, behind=job.id)
        assert [given.ref for given in exchange.batches[0]] == self.plain.claim(worker, ALL, LEASE, None)
        self.given += [(worker, given) for given in exchange.batches[0]]

    @rule(who=st.sampled_from(WORKERS))
    def kill(self, who: str) -> None:
        """The worker dies and restarts under a new name; reports on its old jobs may still arrive, too late."""
        self.restarts += 1
        self.workers[who] = f"{who}-{self.restarts}"

    @rule(who=st.sampled_from(WORKERS))
    def heartbeat(self, who: str) -> None:
        worker = self.workers[who]
        held = {one.ref: one.cancel_requested for one in self.store.workers.heartbeat(worker, LEASE)}
        assert held == self.plain.heartbeat(worker, LEASE)
        asked = sorted(ref.job_id for ref, cancelled in held.items() if cancelled)
        assert sorted(ref.job_id for ref in self.store.attempts.cancellations(worker)) == asked

    @rule(who=st.sampled_from(WORKERS))
    def die_and_be_missed(self, who: str) -> None:
        self.kill(who)
        self.advance_the_clock(LEASE)
        self.recover()

    @precondition(lambda self: self.given)
    @rule(pick=PICK, heir=st.sampled_from(WORKERS), outcome=OUTCOMES)
    def report_too_late(self, pick: int, heir: str, outcome: Outcome) -> None:
        """A worker outlives its lease; by the time it reports, another one may hold its job."""
        worker, job = self.given_at(pick)
        self.advance_the_clock(LEASE)
        self.recover()
        self.advance_the_clock(100.0)
        self.claim_anything(heir)
        self.report(worker, job, outcome)

    @rule()
    def recover(self) -> None:
        found = self.store.maintenance.recover()
        assert {*found.requeued, *found.ended} == self.plain.recover()
        # A requeued job is cancelled if a later one of its group fails for good and the group stops.
        requeued = [self.plain.jobs[job_id] for job_id in found.requeued]
        assert all(job.status == "pending" or (job.status == "cancelled" and job.group_id) for job in requeued)
        assert all(not self.plain.jobs[job_id].active for job_id in found.ended)

    @rule(seconds=st.sampled_from((0.001, 1.0, 11.0, 30.0, 60.0, 100.0, 4000.0)))
    def advance_the_clock(self, seconds: float) -> None:
        self.backend.clock.advance(seconds)
        self.plain.now = self.backend.clock()

    # Operators

    @precondition(lambda self: self.plain.jobs)
    @rule(pick=PICK, act=st.sampled_from(("cancel", "retry", "run_now")))
    def operate(self, pick: int, act: str) -> None:
        {"cancel": self.cancel, "retry": self.retry, "run_now": self.run_now}[act](pick)

    def cancel(self, pick: int) -> None:
        job = self.job_at(pick)
        try:
            done: str | None = self.store.jobs.cancel(job.id)
        except NotAllowed:
            done = None
        assert done == self.plain.cancel(job.id)

    def retry(self, pick: int) -> None:
        job = self.job_at(pick)
        try:
            made = self.store.jobs.retry(job.id)
        except NotAllowed:
            assert job.active
            return
        assert not job.active
        assert made.created == self.plain.retry(job, made.id)

    def run_now(self, pick: int) -> None:
        job = self.job_at(pick)
        try:
            self.store.jobs.run_now(job.id)
        except NotAllowed:
            assert job.status != "pending"
            return
        assert job.status == "pending"
        job.next_run = None

    @precondition(lambda self: self.plain.in_order())
    @rule(pick=PICK, to=PICK, how=st.sampled_from(("front", "back", "before", "before", "after", "tidy", "priority")))
    def move(self, pick: int, to: int, how: str) -> None:
        pending = self.plain.in_order()
        job = pending[pick % len(pending)]
        rest = [other for other in pending if other is not job]
        target = rest[to % len(rest)] if rest else None
        if how == "before" and target is not None:
            self.store.jobs.move_before(job.id, target.id)
            job.priority = target.priority
            rest.insert(rest.index(target), job)
        elif how == "after" and target is not None:
            self.store.jobs.move_after(job.id, target.id)
            job.priority = target.priority
            rest.insert(rest.index(target) + 1, job)
        elif how == "tidy":
            self.store.jobs.renumber(job.priority)
            rest = pending
        elif how == "priority":
            self.store.jobs.set_priority(job.id, 2)
            job.priority, job.position = 2, 0
            rest = self.plain.in_order()
        else:
            (self.store.jobs.move_to_back if how == "back" else self.store.jobs.move_to_front)(job.id)
            ahead = lambda other: other.priority > job.priority or (how == "back" and other.priority == job.priority)  # noqa: E731
            rest.insert(sum(map(ahead, rest)), job)
        self._adopt_places([other.id for other in rest])

    def _adopt_places(self, expected: list[int]) -> None:
        """Copy the store's position numbers after checking that they give the model's order."""
        found = self.store.jobs.upcoming(limit=1000)
        assert [job.id for job in found] == expected
        for job in found:
            self.plain.jobs[job.id].position = job.position

    @rule(kind=KINDS)
    def pause_or_resume(self, kind: str) -> None:
        if kind in self.plain.paused:
            self.store.types.resume(kind)
            self.plain.paused.discard(kind)
        else:
            self.store.types.pause(kind)
            self.plain.paused.add(kind)

    @rule(scope=st.sampled_from(("*", "plain", "tile")), seconds=st.sampled_from((5.0, 50.0)))
    def reserve(self, scope: str, seconds: float) -> None:
        taken = any(s == scope and expires > self.plain.ms for s, expires in self.plain.reservations.values())
        try:
            held = self.store.reservations.reserve("somebody", seconds, scope)
        except Reserved:
            assert taken
            return
        assert not taken
        self.reserved.append(held.id)
        self.plain.reservations[held.id] = (scope, moment(self.plain.now + seconds))

    @precondition(lambda self: self.reserved)
    @rule(pick=PICK, longer=st.booleans())
    def release_or_extend(self, pick: int, longer: bool) -> None:
        name = self.reserved[-1 - pick % min(len(self.reserved), 3)]
        known = self.plain.reservations.get(name)
        if known is not None and known[1] <= self.plain.ms:
            return  # the model does not track whether a sweep has marked it already
        try:
            self.store.reservations.extend(name, 20.0) if longer else self.store.reservations.release(name)
        except NotAllowed:
            assert known is None
            return
        assert known is not None
        if longer:
            self.plain.reservations[name] = (known[0], moment(self.plain.now + 20.0))
        else:
            del self.plain.reservations[name]

    def expire_reservations(self) -> None:
        self.store.reservations.expire()
        assert {found.id for found in self.store.reservations.list()} == {
            name for name, (_, expires) in self.plain.reservations.items() if expires > self.plain.ms
        }

    @rule()
    def housekeep(self) -> None:
        """Run a worker's maintenance, and resume paused types."""
        self.recover()
        self.expire_reservations()
        for kind in sorted(self.plain.paused):
            self.pause_or_resume(kind)

    @rule(completed_days=st.sampled_from((0.0, 0.001, 0.05)), failed_days=st.sampled_from((0.0, 0.05)))
    def prune(self, completed_days: float, failed_days: float) -> None:
        gone = self.store.maintenance.prune(completed_days, failed_days)
        assert (gone.completed, gone.failed) == self.plain.prune(completed_days, failed_days)

    @rule()
    def open_again(self) -> None:
        """Reopen the queue as another process would: all state is in the database."""
        self.store.close()
        self.store = self.backend.open()

    # Invariants

    @invariant()
    def store_is_as_the_model_says(self) -> None:
        assert _rows(self.backend) == {job.id: _expected(job) for job in self.plain.jobs.values()}

    @invariant()
    def attempts_are_as_the_model_says(self) -> None:
        found: dict[int, list[str]] = {}
        for job_id, status in self.backend.by_hand("SELECT job_id, status FROM job_attempts ORDER BY 1, attempt_no"):
            found.setdefault(job_id, []).append(status)
        assert found == {
            job.id: [attempt.status for attempt in job.attempts] for job in self.plain.jobs.values() if job.attempts
        }

    @invariant()
    def order_is_the_models(self) -> None:
        assert [job.id for job in self.store.jobs.upcoming(limit=1000)] == [job.id for job in self.plain.in_order()]

    @invariant()
    def every_promise_holds(self) -> None:
        assert self.store.verify() == []


COLUMNS = (
    "type, status, priority, position, created_at, next_run_at,"
    " CASE WHEN status = 'pending' THEN deps_left END, attempt_no, retry_count, max_attempts,"
    " worker_id, lease_expires_at, batch_id, cancel_requested_at IS NOT NULL, dead_lettered_at IS NOT NULL,"
    " completed_at, tenant_id, dedupe_key, group_key, retry_of, group_id, template_id"
)


def _rows(backend: BackendUnderTest) -> dict[int, tuple[object, ...]]:
    return {row[0]: row[1:] for row in backend.by_hand(f"SELECT id, {COLUMNS} FROM jobs")}


def _expected(job: PlainJob) -> tuple[object, ...]:
    return (
        job.type, job.status, job.priority, job.position, _text(job.created), _text(job.next_run),
        job.deps_left if job.status == "pending" else None,
        job.attempt_no, job.retry_count, job.max_attempts, job.worker, _text(job.lease), job.batch,
        int(job.cancel_requested), int(job.dead), _text(job.completed), job.tenant, job.dedupe, job.group, job.retry_of,
        job.group_id, job.template_id,
    )  # fmt: skip


def _text(milliseconds: int | None) -> str | None:
    return None if milliseconds is None else to_text(milliseconds / 1000)
