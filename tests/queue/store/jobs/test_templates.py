"""Job templates: named arguments and options, snapshots in jobs, use by triggers, and tenants."""

from __future__ import annotations

from typing import Any

import pytest

from gribmill.queue.errors import (
    BadArguments,
    BadTemplate,
    BadTrigger,
    NotAllowed,
    TemplateNotFound,
    TenantNotFound,
    UnknownJobType,
)
from gribmill.queue.model import JobTemplate, NewJob, NewTemplate, NewTenant, NewTrigger
from gribmill.queue.store import Store
from tests.queue.store.fake_clock import FakeClock
from tests.queue.store.store_driver import fail, take
from tests.queue.store.tested_backend import BackendUnderTest


def nightly(store: Store, **fields: Any) -> JobTemplate:
    usual: dict[str, Any] = {"args": {"n": 1}, "priority": 5, "timeout_seconds": 60, "max_attempts": 7}
    return store.templates.add(NewTemplate("nightly", "plain", **{**usual, **fields}))


def run(store: Store, name: str = "nightly", **args: Any) -> int:
    return store.jobs.enqueue(store.templates.job(name, args=args)).id


def test_job_takes_arguments_and_options_of_its_template_and_may_override_arguments(store: Store) -> None:
    template = nightly(store)
    plain, other = store.jobs.get(run(store)), store.jobs.get(run(store, n=9))
    assert (plain.args, other.args) == ({"n": 1}, {"n": 9})
    assert {(job.template_id, job.priority, job.timeout_seconds, job.max_attempts) for job in (plain, other)} == {
        (template.id, 5, 60, 7)
    }


def test_jobs_of_a_template_are_equal_in_bulk_and_one_by_one(store: Store) -> None:
    template = nightly(store)
    jobs = [store.templates.job("nightly", args={"n": n}) for n in range(3)]
    made = store.jobs.enqueue_many([*jobs, NewJob("plain", {"n": 3}, 5)])
    assert [store.jobs.get(one.id).template_id for one in made] == [template.id] * 3 + [None]


def test_editing_a_template_changes_only_later_jobs(store: Store) -> None:
    nightly(store)
    before = run(store)
    changed = store.templates.edit("nightly", args={"n": 2}, priority=0, max_attempts=None)
    assert (changed.args, changed.priority, changed.max_attempts, changed.timeout_seconds) == ({"n": 2}, 0, None, 60)
    old, new = store.jobs.get(before), store.jobs.get(run(store))
    assert (old.args, old.priority, old.max_attempts) == ({"n": 1}, 5, 7)
    assert (new.args, new.priority, new.max_attempts) == ({"n": 2}, 0, 3)


def test_retry_names_the_template_of_the_first_job(store: Store) -> None:
    template = nightly(store)
    first = run(store)
    fail(store, take(store), permanent=True)
    store.templates.edit("nightly", args={"n": 8})
    again = store.jobs.get(store.jobs.retry(first).id)
    assert (again.template_id, again.args) == (template.id, {"n": 1})


def test_jobs_keep_the_name_of_a_removed_template_and_its_id_is_not_reused(store: Store) -> None:
    template = nightly(store)
    job = run(store)
    store.templates.remove("nightly")
    assert store.jobs.get(job).template_id == template.id
    assert store.templates.find(template.id) is None
    assert nightly(store).id != template.id
    with pytest.raises(TemplateNotFound, match="the tenant global has no template 'gone'"):
        store.templates.remove("gone")


def test_missing_arguments_must_be_given_with_each_job(store: Store) -> None:
    store.templates.add(NewTemplate("half", "needy", {"hour": 3}))
    assert store.templates.use("half").missing == ("region",)
    with pytest.raises(BadArguments, match="needy: region: field required"):
        run(store, "half")
    assert store.jobs.get(run(store, "half", region="ne")).args == {"hour": 3, "region": "ne", "note": ""}


@pytest.mark.parametrize(
    ("fields", "error", "said"),
    [
        ({"args": {"m": 1}}, BadArguments, "plain: m: no such argument"),
        ({"args": {"n": "x"}}, BadArguments, "plain: n: input should be a valid integer"),
        ({"type": "needy", "args": {"hour": "x"}}, BadArguments, "^needy: hour: input should be a valid integer[^;]*$"),
        ({"type": "needy", "args": {"hour": 1, "x": "y" * 70_000}}, BadArguments, "no such argument"),
        ({"type": "needy", "args": {"note": "y" * 70_000}}, BadArguments, "larger than 64000 bytes"),
        ({"type": "strange"}, UnknownJobType, "strange"),
        ({"name": "two words"}, BadTemplate, "is not the name of a template"),
        ({"name": ""}, BadTemplate, "is not the name of a template"),
        ({"description": "a\nb"}, BadTemplate, "printable"),
        ({"dedupe_key": ""}, BadTemplate, "a dedupe key has 1 to"),
        ({"priority": 2**40}, BadArguments, "priority"),
        ({"timeout_seconds": 0}, BadArguments, "timeout"),
        ({"max_attempts": 1001}, BadArguments, "max_attempts"),
        ({"tenant_id": "nobody"}, TenantNotFound, "nobody"),
    ],
)
def test_template_that_could_never_create_a_job_is_refused(
    store: Store, fields: dict[str, Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        store.templates.add(NewTemplate(**{"name": "nightly", "type": "plain", **fields}))
    assert store.templates.list() == []


def test_edit_is_checked_like_a_new_template_and_leaves_it_unchanged_when_refused(store: Store) -> None:
    template = nightly(store)
    store.templates.add(NewTemplate("other", "plain"))
    for changes, said in (
        ({"args": {"m": 1}}, "no such argument"),
        ({"name": "other"}, "there is a template other"),
        ({"type": "tile"}, "the type and the tenant of a template cannot be changed"),
    ):
        with pytest.raises((BadArguments, BadTemplate), match=said):
            store.templates.edit("nightly", **changes)
    assert store.templates.get("nightly") == template
    assert store.templates.edit("nightly", name="daily").id == template.id
    with pytest.raises(BadTemplate, match="there is a template daily"):
        store.templates.add(NewTemplate("daily", "plain"))


# Triggers


def test_schedule_uses_the_template_as_it_is_at_the_slot(store: Store, clock: FakeClock) -> None:
    template = nightly(store)
    rule = NewTrigger("every minute", "plain", {}, cron="* * * * *", template_id=template.id)
    trigger = store.triggers.add(rule)
    assert (trigger.template_id, trigger.priority) == (template.id, None)
    store.templates.edit("nightly", args={"n": 4}, priority=2)
    clock.advance(60)
    (fired,) = store.triggers.fire_due()
    assert fired.job is not None, fired.error
    job = store.jobs.get(fired.job.id)
    assert (job.args, job.priority, job.timeout_seconds, job.template_id) == ({"n": 4}, 2, 60, template.id)


def test_trigger_overrides_arguments_and_priority_of_its_template(store: Store) -> None:
    template = nightly(store)
    args = {"n": "{{event.n}}"}
    store.triggers.add(NewTrigger("arrived", "plain", args, event="arrived", priority=0, template_id=template.id))
    (fired,) = store.events.emit("arrived", {"n": 6})
    assert fired.job is not None, fired.error
    job = store.jobs.get(fired.job.id)
    assert (job.args, job.priority) == ({"n": 6}, 0)


def test_placeholders_in_a_template_are_plain_text(store: Store) -> None:
    template = store.templates.add(NewTemplate("odd", "needy", {"region": "{{event.x}}"}))
    store.triggers.add(NewTrigger("arrived", "needy", {}, event="arrived", template_id=template.id))
    (fired,) = store.events.emit("arrived", {"x": "ne"})
    assert fired.job is not None, fired.error
    assert store.jobs.get(fired.job.id).args["region"] == "{{event.x}}"


def test_trigger_can_change_to_a_template_and_back(store: Store) -> None:
    template = nightly(store)
    trigger = store.triggers.add(NewTrigger("arrived", "tile", {"hour": 3}, event="arrived", priority=4))
    with pytest.raises(BadTrigger, match="template nightly makes jobs of the type plain, not tile"):
        store.triggers.edit(trigger.id, template_id=template.id, args={})
    store.triggers.edit(trigger.id, template_id=template.id, type="plain", args={}, priority=None)
    with pytest.raises(NotAllowed, match=r"template nightly is used by trigger 1 \(arrived\)"):
        store.templates.remove("nightly")
    assert store.templates.use("nightly").triggers == ((1, "arrived"),)
    back = store.triggers.edit(trigger.id, template_id=None)
    assert (back.type, back.priority, back.template_id) == ("plain", 0, None)
    store.templates.remove("nightly")


def test_template_that_lacks_an_argument_is_reported_when_added_or_fired(store: Store) -> None:
    template = store.templates.add(NewTemplate("half", "needy", {}))
    with pytest.raises(BadArguments, match="region: field required"):
        store.triggers.add(NewTrigger("cron", "needy", {}, cron="* * * * *", template_id=template.id))
    store.templates.edit("half", args={"region": "ne"})
    trigger = store.triggers.add(NewTrigger("cron", "needy", {}, cron="* * * * *", template_id=template.id))
    store.templates.edit("half", args={})
    fired = store.triggers.fire_now(trigger.id)
    assert fired.job is None
    assert "region: field required" in (fired.error or "")


# Tenants


def test_templates_of_other_tenants_do_not_exist(store: Store) -> None:
    theirs = nightly(store)
    store.tenants.add(NewTenant("north"))
    north = store.for_tenant("north")
    assert north.templates.list() == []
    with pytest.raises(TemplateNotFound):
        north.templates.get("nightly")
    with pytest.raises(TemplateNotFound):
        north.templates.edit("nightly", priority=1)
    with pytest.raises(TemplateNotFound):
        north.templates.remove("nightly")
    with pytest.raises(TemplateNotFound):
        north.jobs.enqueue(NewJob("plain", template_id=theirs.id))
    with pytest.raises(BadTrigger, match="the tenant north has no template"):
        north.triggers.add(NewTrigger("arrived", "plain", {}, event="arrived", template_id=theirs.id))
    mine = north.templates.add(NewTemplate("nightly", "plain", {"n": 3}))
    job = store.jobs.get(north.jobs.enqueue(north.templates.job("nightly")).id)
    assert (mine.tenant_id, job.tenant_id, job.template_id, job.args) == ("north", "north", mine.id, {"n": 3})
    assert [one.name for one in store.templates.list()] == ["nightly", "nightly"]


# What a job was started with


def test_every_job_has_an_id_its_template_and_its_arguments(store: Store, backend: BackendUnderTest) -> None:
    template = nightly(store)
    job = run(store)
    fail(store, take(store))
    rows = backend.by_hand("SELECT run_id, template_id, params_snapshot FROM job_runs")
    assert [tuple(row) for row in rows] == [(f"{job}-1", template.id, '{"n":1}')]
    with pytest.raises(Exception, match="cannot be changed after it has started"):
        backend.by_hand(f"UPDATE jobs SET args = '{{}}' WHERE id = {job}")
    with pytest.raises(Exception, match="cannot be changed after it has started"):
        backend.by_hand(f"UPDATE jobs SET template_id = NULL WHERE id = {job}")
