"""Concurrent operators, and concurrent clients of one tenant: no change is lost, and no limit is exceeded."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from gribmill.queue.errors import TenantLimit
from gribmill.queue.model import NewJob, NewTemplate, NewTenant, NewTrigger
from gribmill.queue.store import Store
from gribmill.queue.store.jobs.listing import JobFilter
from tests.queue.store.crew import together
from tests.queue.store.jobs.test_races import store
from tests.queue.store.store_driver import claim

__all__ = ["store"]  # a fixture

pytestmark = pytest.mark.slow

ROUNDS = 12
MOST = 3


def _template(store: Store, number: int) -> tuple[Callable[..., Any], Callable[[], Any]]:
    name = f"t{number}"
    store.templates.add(NewTemplate(name, "plain", priority=0, max_attempts=1))
    return partial(store.templates.edit, name), partial(store.templates.get, name)


def _trigger(store: Store, number: int) -> tuple[Callable[..., Any], Callable[[], Any]]:
    made = store.triggers.add(NewTrigger(f"t{number}", "plain", event="noon", priority=0))
    return partial(store.triggers.edit, made.id), partial(store.triggers.get, made.id)


def _tenant(store: Store, number: int) -> tuple[Callable[..., Any], Callable[[], Any]]:
    name = f"t{number}"
    store.tenants.add(NewTenant(name))
    return partial(store.tenants.edit, name), partial(store.tenants.get, name)


def _definition(store: Store, number: int) -> tuple[Callable[..., Any], Callable[[], Any]]:
    store.definitions.reset("plain")
    return lambda **changes: store.definitions.edit("plain", changes), lambda: store.definitions.get("plain").definition


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [
        (_template, {"priority": 5}, {"max_attempts": 7}),
        (_trigger, {"priority": 5}, {"label": "renamed"}),
        (_tenant, {"max_pending": 5}, {"title": "renamed"}),
        (_definition, {"max_attempts": 7}, {"timeout_seconds": 5}),
    ],
    ids=["template", "trigger", "tenant", "definition"],
)
def test_concurrent_edits_are_both_kept(
    store: Store, kind: Callable[..., Any], one: dict[str, Any], other: dict[str, Any]
) -> None:
    for number in range(ROUNDS):
        edit, get = kind(store, number)
        together(partial(edit, **one), partial(edit, **other))
        found = get()
        assert {name: getattr(found, name) for name in (one | other)} == one | other


def test_workers_that_start_together_set_the_limits_of_resources(store: Store) -> None:
    for most in range(1, ROUNDS):
        limits = {"gpu": most, "tape": most}
        together(*[partial(store.definitions.set_resource_limits, limits)] * 6)
        with store.database.read() as tx:
            _, rows = tx.table("types/resource_limits")
        assert sorted(map(tuple, rows)) == sorted(limits.items())


@pytest.mark.parametrize("limit", ["max_pending", "max_per_minute"])
def test_pending_limit_of_a_tenant_is_never_exceeded(store: Store, limit: str) -> None:
    store.tenants.add(NewTenant("acme"))
    store.tenants.edit("acme", **{limit: MOST})
    made: list[int] = []

    def enqueue() -> None:
        for _ in range(MOST):
            try:
                made.append(store.jobs.enqueue(NewJob("plain", tenant_id="acme")).id)
            except TenantLimit:
                return

    together(*[enqueue] * 6)
    assert len(made) == MOST
    assert len(store.jobs.list(JobFilter(tenant_id="acme")).jobs) == MOST


def test_running_limit_of_a_tenant_is_never_exceeded(store: Store) -> None:
    store.tenants.add(NewTenant("acme", max_running=MOST))
    store.jobs.enqueue_many([NewJob("plain", {"n": n}, tenant_id="acme") for n in range(30)])
    together(*(partial(claim, store, f"w{n}") for n in range(8)))
    together(*(partial(claim, store, f"w{n}") for n in range(8)))
    assert len(store.jobs.list(JobFilter(status="processing")).jobs) == MOST
