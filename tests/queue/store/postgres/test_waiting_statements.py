"""Statements whose results nobody needs wait for the next one or the commit, and share its round trip."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gribmill.database.postgres.handle import Handle
from gribmill.queue.errors import StatementRefused
from gribmill.queue.model import Failed, NewEvent, Report
from gribmill.queue.store import Store
from tests.queue.store.store_driver import add, take
from tests.queue.store.tested_backend import PostgresUnderTest

pytestmark = pytest.mark.postgres


@pytest.fixture
def store() -> Iterator[Store]:
    backend = PostgresUnderTest()
    yield backend.store
    assert backend.store.verify() == []
    backend.close()


@pytest.fixture
def trips(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The round trips so far."""
    made: list[str] = []
    for name in ("begin", "send", "commit", "commit_all"):
        method = getattr(Handle, name)

        def counted(self: Handle, *args: object, _name: str = name, _method: object = method, **more: object) -> object:
            made.append(_name)
            return _method(self, *args, **more)  # type: ignore[operator]

        monkeypatch.setattr(Handle, name, counted)
    return made


def names_of(store: Store) -> list[str]:
    return [event.name for event in store.events.list(limit=100)]


def test_events_are_published_with_the_next_statement_and_the_commit(store: Store, trips: list[str]) -> None:
    store.events.list(limit=1)
    trips.clear()
    with store.database.write() as tx:
        for n in range(5):
            tx.publish(NewEvent(f"first.{n}", {}))
        assert tx.change("jobs/run_now", {"job_id": 0}) == 0
        tx.publish(NewEvent("last", {}))
    assert trips == ["begin", "commit"]
    assert sorted(names_of(store)) == ["first.0", "first.1", "first.2", "first.3", "first.4", "last"]


def test_transaction_of_waiting_statements_alone_is_committed(store: Store) -> None:
    with store.database.write() as tx:
        tx.publish(NewEvent("alone", {}))
    assert names_of(store) == ["alone"]


def test_statements_that_wait_are_dropped_when_the_transaction_fails(store: Store) -> None:
    with pytest.raises(ZeroDivisionError), store.database.write() as tx:
        tx.publish(NewEvent("never", {}))
        raise ZeroDivisionError
    assert names_of(store) == []


@pytest.mark.parametrize("begun", [True, False])
def test_refused_statement_that_waited_for_the_commit_undoes_everything(store: Store, begun: bool) -> None:
    job = add(store)
    with pytest.raises(StatementRefused), store.database.write() as tx:
        if begun:
            assert tx.change("jobs/run_now", {"job_id": job}) >= 0
        tx.publish(NewEvent("before", {}))
        tx.send("groups/await", {"job_id": "not a number"})
        tx.publish(NewEvent("after", {}))
    assert names_of(store) == []
    assert take(store).id == job


def test_failed_attempt_is_reported_in_a_few_round_trips(store: Store, trips: list[str]) -> None:
    add(store)
    job = take(store)
    trips.clear()
    assert store.exchange("w1", [Report(job.ref, Failed("broken", permanent=True))]).accepted == (job.ref,)
    # Locks with the look at the attempt; the job's end; the attempt's end with the look for dependents; the commit.
    assert trips == ["begin", "send", "send", "commit"]
    (attempt,) = store.jobs.history(job.id).attempts
    assert (attempt.status, attempt.error_text) == ("failed", "broken")
