"""Row-level security behind a tenant's handle: it hides rows that a statement or a Python check fails to exclude."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from fastapi import FastAPI

from gribmill.access.audit import Actor, AuditedChange, AuditTrail
from gribmill.database.postgres import PostgresDatabase
from gribmill.database.postgres.status import postgres_status
from gribmill.database.postgres.tenant_role import ADVICE, ENTER
from gribmill.pipeline.checkup.finding import Examination
from gribmill.pipeline.checkup.machine import database as check_database
from gribmill.queue.errors import (
    EventNotFound,
    GroupNotFound,
    JobNotFound,
    QueueError,
    StatementRefused,
    TriggerNotFound,
    WebhookNotFound,
)
from gribmill.queue.model import NewJob, NewTemplate, NewTenant, NewTrigger
from gribmill.queue.store import Store
from gribmill.queue.store.scope import TenantStore
from gribmill.server.app import create_app
from gribmill.settings.schema import Settings
from tests.queue.store.guarantees.postgres_mutant import PostgresMutant
from tests.queue.store.sample_types import TYPES
from tests.queue.store.tenants.test_tenant_handle import OWN, THEIRS, World, world
from tests.queue.store.tested_backend import PostgresUnderTest
from tests.servers.shared_postgres import fresh_database, postgres_url
from tests.waiting import wait_until

__all__ = ["world"]
pytestmark = [pytest.mark.postgres, pytest.mark.parametrize("backend", ["postgres"], indirect=True)]

MINE = "tenant_id = :tenant_id OR :tenant_id IS NULL"
ALWAYS = "true OR tenant_id = :tenant_id OR :tenant_id IS NULL"
FORGETFUL = PostgresMutant(
    {
        "events/list": ((MINE, ALWAYS),),
        "events/list_after": ((MINE, ALWAYS),),
        "groups/list": ((MINE, ALWAYS),),
        "listing/counts": ((MINE, ALWAYS),),
        "templates/list": ((MINE, ALWAYS),),
    }
)
"""Statements that forget to look at the tenant."""


def test_statements_that_forget_the_tenant_show_nothing_of_others(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    FORGETFUL.apply(monkeypatch)
    looks: dict[str, Callable[[Any], Any]] = {
        "events": lambda store: store.events.list(limit=1000),
        "events after": lambda store: store.events.after(0),
        "groups": lambda store: store.groups.list(),
        "templates": lambda store: store.templates.list(),
    }
    for name, look in looks.items():
        assert THEIRS in repr(look(world.store)), f"{name}: as an operator sees it"
        assert THEIRS not in repr(look(world.handle)), name
    assert sum(world.handle.activity.counts().values()) == 1


def test_checks_in_python_that_are_left_out_show_nothing_of_others(world: World) -> None:
    handle = world.handle
    unchecked: list[tuple[Callable[[], Any], type[QueueError]]] = [
        (lambda: handle.jobs._jobs.get(world.job), JobNotFound),
        (lambda: handle.jobs._jobs.history(world.failed), JobNotFound),
        (lambda: handle.groups._groups.progress(world.group), GroupNotFound),
        (lambda: handle.triggers._triggers.get(world.trigger), TriggerNotFound),
        (lambda: handle.events._events.get(world.event), EventNotFound),
        (lambda: handle.webhooks._webhooks.deliveries(world.webhook), WebhookNotFound),
    ]
    for call, refusal in unchecked:
        with pytest.raises(refusal):
            call()
    assert handle.webhooks._webhooks.list() == []
    assert [one.id for one in handle.jobs._jobs.list().jobs] == [world.own]
    assert [one.name for one in handle._tenants.list()] == [OWN]


UNCHECKED_CHANGES: dict[str, Callable[[TenantStore, World], Any]] = {
    "jobs.cancel": lambda h, w: h.jobs._jobs.cancel(w.job),
    "jobs.retry": lambda h, w: h.jobs._jobs.retry(w.failed),
    "jobs.run_now": lambda h, w: h.jobs._jobs.run_now(w.job),
    "jobs.change_args": lambda h, w: h.jobs._jobs.change_args(w.job, lambda args: {**args, "n": 9}),
    "jobs.move_to_front": lambda h, w: h.jobs._jobs.move_to_front(w.job),
    "jobs.move_before": lambda h, w: h.jobs._jobs.move_before(w.own, w.job),
    "jobs.move_after": lambda h, w: h.jobs._jobs.move_after(w.job, w.own),
    "jobs.set_priority": lambda h, w: h.jobs._jobs.set_priority(w.job, 9),
    "jobs.enqueue for another": lambda h, _: h.jobs._jobs.enqueue(NewJob("plain", tenant_id=THEIRS)),
    "jobs.enqueue for everybody": lambda h, _: h.jobs._jobs.enqueue(NewJob("plain")),
    "jobs.enqueue_many": lambda h, _: h.jobs._jobs.enqueue_many([NewJob("plain"), NewJob("plain")]),
    "jobs.enqueue after": lambda h, w: h.jobs._jobs.enqueue(NewJob("plain", tenant_id=OWN, after=(w.job,))),
    "groups.open": lambda h, _: h.groups._groups.open("new", tenant_id=THEIRS),
    "groups.add": lambda h, w: h.groups._groups.add(w.group, [NewJob("plain", tenant_id=THEIRS)]),
    "groups.cancel": lambda h, w: h.groups._groups.cancel(w.group),
    "groups.resume": lambda h, w: h.groups._groups.resume(w.group),
    "groups.retry": lambda h, w: h.groups._groups.retry(w.group),
    "templates.add": lambda h, _: h.templates._templates.add(NewTemplate("t", "plain", tenant_id=THEIRS)),
    "templates.edit": lambda h, _: h.templates._templates.edit("zebra_template", THEIRS, priority=3),
    "templates.remove": lambda h, _: h.templates._templates.remove("zebra_template", THEIRS),
    "triggers.add": lambda h, _: h.triggers._triggers.add(NewTrigger("new", "plain", event="x", tenant_id=THEIRS)),
    "triggers.set_enabled": lambda h, w: h.triggers._triggers.set_enabled(w.trigger, enabled=False),
    "triggers.edit": lambda h, w: h.triggers._triggers.edit(w.trigger, label="mine"),
    "triggers.remove": lambda h, w: h.triggers._triggers.remove(w.trigger),
    "triggers.fire_now": lambda h, w: h.triggers._triggers.fire_now(w.trigger),
    "events.emit": lambda h, _: h.events._events.emit("zebra.seen", {}, tenant_id=THEIRS),
    "webhooks.add": lambda h, _: h.webhooks._webhooks.add("https://a.example/", ["*"], tenant_id=THEIRS),
    "webhooks.add for all": lambda h, _: h.webhooks._webhooks.add("https://a.example/", ["*"], tenant_id="*"),
    "webhooks.edit": lambda h, w: h.webhooks._webhooks.edit(w.webhook, url="https://a.example/"),
    "webhooks.set_enabled": lambda h, w: h.webhooks._webhooks.set_enabled(w.webhook, enabled=False),
    "webhooks.remove": lambda h, w: h.webhooks._webhooks.remove(w.webhook),
    "webhooks.test": lambda h, w: h.webhooks._webhooks.test(w.webhook),
    "webhooks.redeliver": lambda h, w: h.webhooks._webhooks.redeliver(w.event, w.webhook),
}
"""What the handle does after it has checked that the object is the tenant's, without the check."""


def test_checks_in_python_that_are_left_out_change_nothing_of_others(world: World) -> None:
    theirs, jobs = world.theirs(), world.store.jobs.list(limit=1000).jobs
    for name, call in UNCHECKED_CHANGES.items():
        refused = False
        try:
            refused = call(world.handle, world) is False
        except QueueError:
            refused = True
        assert refused, name
        assert (world.theirs(), world.store.jobs.list(limit=1000).jobs) == (theirs, jobs), name


def test_row_in_the_name_of_another_is_refused_with_the_reason(world: World) -> None:
    with pytest.raises(StatementRefused, match="row-level security refused a row of another tenant"):
        world.handle.events._events.emit("zebra.seen", {}, tenant_id=THEIRS)
    assert world.handle.jobs.enqueue(NewJob("plain")).created, "the connection is as good as before"


FORGETFUL_CHANGES = PostgresMutant(
    {
        "groups/stop": (("WHERE id = :group_id", "WHERE true OR id = :group_id"),),
        "groups/cancel_pending": (("WHERE group_id = :group_id AND group_id IS NOT NULL AND", "WHERE"),),
        "jobs/run_now": (("id = :job_id", "(true OR id = :job_id)"),),
        "webhooks/set_enabled": (("WHERE id = :id", "WHERE true OR id = :id"),),
        "webhooks/delete": (("WHERE id = :id", "WHERE true OR id = :id"),),
    }
)
"""Statements that change more than the row that they are given."""


def test_statements_that_change_too_much_change_nothing_of_others(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = world.theirs()
    group = world.handle.groups.open("mine")
    world.handle.groups.add(group.id, [NewJob("plain")])
    webhook = world.handle.webhooks.add("https://acme.example/", ["*"]).id
    FORGETFUL_CHANGES.apply(monkeypatch)
    world.handle.jobs.run_now(world.own)
    world.handle.groups.cancel(group.id)
    world.handle.webhooks.set_enabled(webhook, enabled=False)
    world.handle.webhooks.remove(webhook)
    assert {job.status for job in world.handle.jobs.list().jobs} == {"cancelled"}, "it changed too much"
    assert world.theirs() == before


def test_no_table_that_the_role_may_read_shows_rows_of_others(world: World, backend: PostgresUnderTest) -> None:
    trail = AuditTrail(backend.database)
    trail.record(Actor(THEIRS), AuditedChange("jobs.cancel", THEIRS, "zebra"), 200)
    with psycopg.connect(backend.url) as connection:
        granted = connection.execute(
            "SELECT c.oid::regclass::text FROM pg_class c WHERE c.relkind IN ('r', 'v')"
            " AND c.relnamespace = 'public'::regnamespace AND has_table_privilege('gribmill_tenant', c.oid, 'SELECT')"
        ).fetchall()
        connection.execute(ENTER, (OWN,))
        shown = {name: repr(connection.execute(f"SELECT * FROM {name}".encode()).fetchall()) for (name,) in granted}
    assert {"jobs", "job_attempts", "events", "audit_entries", "trigger_firings", "job_dependencies"} <= {*shown}
    assert [name for name, rows in shown.items() if THEIRS in rows] == []


def test_each_policy_is_needed(world: World, backend: PostgresUnderTest) -> None:
    """Without the policy of one table, the test above finds rows of other tenants."""
    for table in ("jobs", "job_attempts", "job_triggers", "events", "job_groups", "webhooks", "job_templates"):
        ((rule,),) = backend.by_hand(
            "SELECT qual FROM pg_policies WHERE policyname = 'of_tenant' AND tablename = ?", table
        )
        backend.by_hand(f"ALTER POLICY of_tenant ON {table} USING (true)")
        with pytest.raises(AssertionError, match=table):
            test_no_table_that_the_role_may_read_shows_rows_of_others(world, backend)
        backend.by_hand(f"ALTER POLICY of_tenant ON {table} USING ({rule})")
    test_no_table_that_the_role_may_read_shows_rows_of_others(world, backend)


def test_role_is_reset_after_the_read(world: World) -> None:
    assert world.handle.jobs.get(world.own).id == world.own
    assert world.store.jobs.get(world.job).tenant_id == THEIRS
    with pytest.raises(JobNotFound):
        world.handle.jobs._jobs.get(world.job)
    assert world.store.jobs.get(world.job).tenant_id == THEIRS


def test_resuming_after_an_event_of_another_tenant_misses_nothing(world: World, backend: PostgresUnderTest) -> None:
    """An event of an older transaction can have a higher id: the order over all tenants' events counts."""
    world.handle.events.emit("mine", {})
    (mine,) = world.handle.events.list()
    backend.by_hand("INSERT INTO events (id, xid, name, tenant_id) VALUES (?, '5', 'older', ?)", mine.id + 1000, THEIRS)
    wait_until(lambda: world.store.events.after(world.event), what="transactions of other tests on the server to end")
    assert [one.id for one in world.handle.events.after(mine.id + 1000)] == [mine.id]
    assert [one.id for one in world.handle.events.after(mine.id)] == []


@pytest.fixture
def plain_user() -> Iterator[tuple[str, str]]:
    """A user without special rights, and the URL of its own empty database."""
    user = f"plain_{secrets.token_hex(4)}"
    server = postgres_url()
    with psycopg.connect(server, autocommit=True) as administrator:
        administrator.execute(f"CREATE ROLE {user} LOGIN".encode())
        with fresh_database("empty", lambda _: None) as url:
            database = psycopg.conninfo.conninfo_to_dict(url)["dbname"]
            administrator.execute(f"ALTER DATABASE {database} OWNER TO {user}".encode())
            yield user, psycopg.conninfo.make_conninfo(url, user=user)
        administrator.execute(f"DROP ROLE {user}".encode())


def test_user_who_may_not_use_the_role_is_advised_and_can_use_it_once_granted(
    backend: PostgresUnderTest, plain_user: tuple[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    user, url = plain_user
    with closing(Store(PostgresDatabase(url), TYPES)) as store, caplog.at_level(logging.WARNING):
        assert ADVICE not in postgres_status(url).advice, "there is only one tenant"
        store.tenants.add(NewTenant(OWN))
        theirs = store.jobs.enqueue(NewJob("plain")).id
        assert store.for_tenant(OWN).jobs._jobs.get(theirs).id == theirs
        store.for_tenant(OWN)
    assert sum(ADVICE in one.message for one in caplog.records) == 1
    assert ADVICE in postgres_status(url).advice
    with psycopg.connect(postgres_url(), autocommit=True) as administrator:
        administrator.execute(f"GRANT gribmill_tenant TO {user}".encode())
    with closing(Store(PostgresDatabase(url), TYPES)) as store, pytest.raises(JobNotFound):
        store.for_tenant(OWN).jobs._jobs.get(theirs)
    assert ADVICE not in postgres_status(url).advice


async def start_and_stop(app: FastAPI) -> None:
    async with app.router.lifespan_context(app):
        pass


def test_server_and_doctor_say_at_once_that_the_role_is_missing(
    backend: PostgresUnderTest, plain_user: tuple[str, str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    user, conninfo = plain_user
    given = psycopg.conninfo.conninfo_to_dict(conninfo)
    url = f"postgresql://{user}@/{given['dbname']}?host={given['host']}"
    settings = Settings(data=tmp_path, database=url)
    with closing(Store(PostgresDatabase(url), TYPES)) as store:
        store.tenants.add(NewTenant(OWN))
    with caplog.at_level(logging.WARNING):
        asyncio.run(start_and_stop(create_app(settings)))
    assert sum(ADVICE in one.message for one in caplog.records) == 1
    notes = [one for one in check_database(Examination(settings)) if one.good is None]
    assert [one.detail for one in notes if one.detail in ADVICE and one.remedy in ADVICE]
