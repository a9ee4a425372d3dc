"""The guarantees through PgBouncer in transaction mode, where each transaction may get another connection."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from gribmill.queue.model import NewJob
from tests.queue.store.guarantees.scenarios import GUARANTEES
from tests.queue.store.tested_backend import BackendUnderTest, PostgresUnderTest
from tests.servers.pgbouncer import pgbouncer
from tests.servers.shared_postgres import postgres_url, same_database

pytestmark = pytest.mark.postgres


@pytest.fixture(scope="module")
def pool() -> Iterator[str]:
    """The URL of a database behind the pooler."""
    with pgbouncer(postgres_url()) as url:
        yield url


@pytest.fixture
def pooled(pool: str) -> Iterator[BackendUnderTest]:
    backend = PostgresUnderTest(through=lambda url: same_database(pool, url))
    yield backend
    backend.close()


@pytest.mark.parametrize("scenario", GUARANTEES, ids=lambda scenario: scenario.__name__)
def test_guarantee_holds_through_a_pooler(
    pooled: BackendUnderTest, scenario: Callable[[BackendUnderTest], None]
) -> None:
    scenario(pooled)
    assert pooled.store.verify() == []


def test_workers_that_cannot_listen_still_poll(pooled: BackendUnderTest) -> None:
    listener = pooled.store.database.listener()
    listener.drain()
    listener.close()
    assert not pooled.store.database.may_have_work()


def test_reads_for_a_tenant_stay_restricted_through_a_pooler(pooled: BackendUnderTest) -> None:
    theirs, mine = (pooled.store.jobs.enqueue(NewJob("plain", tenant_id=tenant)).id for tenant in ("theirs", "acme"))
    handle = pooled.store.for_tenant("acme")
    for _ in range(8):  # more threads than the pool has connections
        assert [job.id for job in handle.jobs._jobs.list().jobs] == [mine]
        assert [job.id for job in pooled.store.jobs.list().jobs] == [mine, theirs]
