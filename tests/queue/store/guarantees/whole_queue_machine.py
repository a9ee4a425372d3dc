"""Random histories that include groups, templates and events."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule

from gribmill.queue.errors import BadTemplate, NotAllowed, TemplateNotFound
from gribmill.queue.model import Enqueued, NewJob, NewTemplate, NewTrigger
from tests.queue.store.guarantees.plain_queue import PlainGroup, moment
from tests.queue.store.guarantees.queue_machine import PICK, PRIORITIES, WORKERS, QueueMachine, new_jobs

NAMES = st.sampled_from(("one", "two"))
EVENTS = ("noon", "job.failed")
WINDOW = 100


@dataclass
class PlainTrigger:
    """An event trigger, and when it last fired for each dedupe key."""

    event: str
    job: NewJob
    fired: dict[str, int]
    enabled: bool = True


class WholeQueueMachine(QueueMachine):
    """Every way to create jobs, in one history."""

    def __init__(self) -> None:
        super().__init__()
        self.templates: dict[str, NewTemplate] = {}
        self.template_ids: dict[str, int] = {}
        self.triggers: dict[int, PlainTrigger] = {}
        self.opened = 0

    # Groups

    def group_at(self, pick: int) -> int:
        return list(self.plain.groups)[-1 - pick % min(len(self.plain.groups), 3)]

    @rule(
        sequential=st.booleans(),
        on_failure=st.sampled_from(("stop", "continue", "skip")),
        jobs=st.lists(new_jobs(), min_size=1, max_size=4),
    )
    def open_group(self, sequential: bool, on_failure: Any, jobs: list[NewJob]) -> None:
        self.opened += 1
        mode: Any = "sequential" if sequential else "parallel"
        made = self.store.groups.open(f"group {self.opened}", mode=mode, on_failure=on_failure)
        self.plain.groups[made.id] = PlainGroup(sequential, on_failure, self.plain.ms)
        self.add_to_group(0, jobs)

    @precondition(lambda self: self.plain.groups)
    @rule(pick=PICK, jobs=st.lists(new_jobs(), min_size=1, max_size=3))
    def add_to_group(self, pick: int, jobs: list[NewJob]) -> None:
        group_id = self.group_at(pick)
        group = self.plain.groups[group_id]
        jobs = [replace(job, tenant_id="global") for job in jobs]
        try:
            made = self.store.groups.add(group_id, jobs)
        except NotAllowed:
            assert group.stopped
            return
        assert not group.stopped
        last = self.plain.last_of(group_id)
        for job, one in zip(jobs, made, strict=True):
            job = replace(job, group_id=group_id)
            if group.sequential:
                job = replace(job, after=last, on_parent_failure=group.link)
            assert one.created == self._take_in(job, one.id)
            last = (one.id,) if one.created else (*last, one.id)

    @precondition(lambda self: self.plain.groups)
    @rule(pick=PICK, who=st.sampled_from(WORKERS), jobs=st.lists(new_jobs(), min_size=2, max_size=3))
    def cancel_the_last_of_a_group_and_add_to_it(self, pick: int, who: str, jobs: list[NewJob]) -> None:
        """A job added while an earlier one runs has to wait for it."""
        self.add_to_group(pick, jobs)
        self.claim_anything(who)
        waiting = [job for job in self.plain.members(self.group_at(pick)) if job.status == "pending"]
        if waiting:
            assert self.store.jobs.cancel(waiting[-1].id) == self.plain.cancel(waiting[-1].id)
        self.add_to_group(pick, jobs[:1])

    @precondition(lambda self: self.plain.groups)
    @rule(pick=PICK)
    def cancel_group(self, pick: int) -> None:
        group_id = self.group_at(pick)
        done = self.store.groups.cancel(group_id)
        assert done.cancelled == self.plain.stop_group(group_id)
        running = [job for job in self.plain.members(group_id) if job.status == "processing"]
        assert done.requested == len(running)
        for job in running:
            job.cancel_requested = True

    @precondition(lambda self: self.plain.groups)
    @rule(pick=PICK)
    def resume_group(self, pick: int) -> None:
        group_id = self.group_at(pick)
        self.store.groups.resume(group_id)
        self.plain.groups[group_id].stopped = False

    @precondition(lambda self: self.plain.groups)
    @rule(pick=PICK, cancelled=st.booleans())
    def retry_group(self, pick: int, cancelled: bool) -> None:
        group_id = self.group_at(pick)
        group = self.plain.groups[group_id]
        made = self.store.groups.retry(group_id, cancelled=cancelled)
        group.stopped = False
        ended = ("failed", "cancelled") if cancelled or group.on_failure == "stop" else ("failed",)
        chosen = [job_id for job_id in self.counted(group_id) if self.plain.jobs[job_id].status in ended]
        last = self.plain.last_of(group_id) if group.sequential else ()
        for job_id, one in zip(sorted(chosen), made, strict=True):
            assert one.created == self.plain.retry(self.plain.jobs[job_id], one.id, last, group.link)
            if group.sequential:
                last = (one.id,) if one.created else (*last, one.id)

    def counted(self, group_id: int) -> list[int]:
        """The group's jobs, except those replaced by a retry or an equal job."""
        jobs = self.plain.members(group_id)
        retried = {job.retry_of for job in self.plain.jobs.values()}
        newest: dict[tuple[str, str | None], int] = {
            (job.type, job.dedupe): job.id for job in sorted(jobs, key=lambda job: job.id) if job.dedupe
        }
        return [
            job.id
            for job in jobs
            if job.status not in ("failed", "cancelled")
            or (job.id not in retried and newest.get((job.type, job.dedupe), job.id) == job.id)
        ]

    @invariant()
    def groups_are_as_the_model_says(self) -> None:
        found = {one.group.id: one for one in self.store.groups.list(limit=1000)}
        assert found.keys() == self.plain.groups.keys()
        for group_id, one in found.items():
            statuses = [self.plain.jobs[job_id].status for job_id in self.counted(group_id)]
            counts = (one.pending, one.running, one.succeeded, one.failed + one.skipped, one.cancelled)
            kinds = ("pending", "processing", "completed", "failed", "cancelled")
            assert counts == tuple(statuses.count(kind) for kind in kinds)
            assert (one.group.stopped_at is not None) == self.plain.groups[group_id].stopped

    # Templates

    @rule(name=NAMES, job=new_jobs(), priority=PRIORITIES)
    def add_template(self, name: str, job: NewJob, priority: int) -> None:
        new = NewTemplate(
            name, job.type, dict(job.args), priority=priority, max_attempts=job.max_attempts, dedupe_key=job.dedupe_key
        )
        try:
            made = self.store.templates.add(new)
        except BadTemplate:
            assert name in self.templates
            return
        assert name not in self.templates
        assert made.id not in self.template_ids.values()
        self.templates[name], self.template_ids[name] = new, made.id

    @rule(name=NAMES, priority=PRIORITIES, attempts=st.sampled_from((None, 1, 5)))
    def edit_template(self, name: str, priority: int, attempts: int | None) -> None:
        try:
            self.store.templates.edit(name, priority=priority, max_attempts=attempts)
        except TemplateNotFound:
            assert name not in self.templates
            return
        self.templates[name] = replace(self.templates[name], priority=priority, max_attempts=attempts)

    @rule(name=NAMES)
    def remove_template(self, name: str) -> None:
        try:
            self.store.templates.remove(name)
        except TemplateNotFound:
            assert name not in self.templates
            return
        del self.templates[name]

    @precondition(lambda self: self.templates)
    @rule(pick=PICK, number=st.integers(0, 2))
    def enqueue_from_template(self, pick: int, number: int) -> None:
        name = sorted(self.templates)[pick % len(self.templates)]
        known = self.templates[name]
        own = dict.fromkeys(known.args, number)
        made = self.store.jobs.enqueue(self.store.templates.job(name, args=own))
        job = NewJob(
            known.type, {**known.args, **own}, known.priority, dedupe_key=known.dedupe_key,
            max_attempts=known.max_attempts, template_id=self.template_ids[name],
        )  # fmt: skip
        assert made.created == self._take_in(job, made.id)

    # Events

    @precondition(lambda self: len(self.triggers) < 4)
    @rule(event=st.sampled_from(EVENTS), job=new_jobs())
    def add_trigger(self, event: str, job: NewJob) -> None:
        job = NewJob(job.type, job.args, job.priority)
        rule_ = NewTrigger(event, job.type, dict(job.args), event=event, priority=job.priority,
                           dedupe_window_seconds=WINDOW)  # fmt: skip
        self.triggers[self.store.triggers.add(rule_).id] = PlainTrigger(event, job, {})

    @precondition(lambda self: self.triggers)
    @rule(pick=PICK, away=st.booleans())
    def switch_or_remove_trigger(self, pick: int, away: bool) -> None:
        trigger_id = sorted(self.triggers)[pick % len(self.triggers)]
        if away:
            self.store.triggers.remove(trigger_id)
            del self.triggers[trigger_id]
            return
        known = self.triggers[trigger_id]
        known.enabled = not known.enabled
        self.store.triggers.set_enabled(trigger_id, enabled=known.enabled)

    @rule(number=st.integers(0, 1), event_id=st.sampled_from((None, None, "a", "b")))
    def emit(self, number: int, event_id: str | None) -> None:
        fired = self.store.events.emit("noon", {"n": number}, event_id=event_id)
        rules = self._rules("noon")
        assert [one.trigger_id for one in fired] == [trigger_id for trigger_id, _ in rules]
        for one, (_, known) in zip(fired, rules, strict=True):
            self._respond(known, f"n {number}" if event_id is None else f"id {event_id}", one.job, event_id is None)

    @rule()
    def dispatch(self) -> None:
        """Check that each failure was published once."""
        fired = self.store.events.dispatch()
        rules = self._rules("job.failed")
        assert [one.trigger_id for one in fired] == [trigger_id for trigger_id, _ in rules] * self.plain.failures
        self.plain.failures = 0
        for one in fired:
            self._respond(self.triggers[one.trigger_id], one.occasion, one.job, repeats=False)
        assert self.store.events.dispatch() == []

    def _rules(self, event: str) -> list[tuple[int, PlainTrigger]]:
        return [pair for pair in sorted(self.triggers.items()) if pair[1].enabled and pair[1].event == event]

    def _respond(self, known: PlainTrigger, occasion: str, made: Enqueued | None, repeats: bool) -> None:
        last = known.fired.get(occasion)
        due = last is None or (repeats and last <= moment(self.plain.now - WINDOW))
        assert (made is not None) == due
        if made is not None:
            known.fired[occasion] = self.plain.ms
            assert made.created == self._take_in(known.job, made.id)
