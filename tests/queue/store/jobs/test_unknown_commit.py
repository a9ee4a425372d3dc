"""Commits whose success the writer does not learn of: repeating them changes nothing.

PostgreSQL: the connection is lost before the answer. SQLite: the disk reports an error after the commit; claims do not
wait for the disk there, so the outcome of a claim alone is always known.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from gribmill.database.postgres.handle import Calls, Handle, NamedCalls
from gribmill.database.records import RawRows
from gribmill.queue.errors import StoreError
from gribmill.queue.model import NewJob, Report, Succeeded
from gribmill.queue.store import Store
from tests.queue.backends import BOTH, new_address, open_address
from tests.queue.store.fake_clock import FakeClock
from tests.queue.store.sample_types import TYPES
from tests.queue.store.store_driver import add, asks, claim, take


@dataclass
class Queue:
    """`lose_next()`: the next commit succeeds, and its writer gets an error."""

    store: Store
    clock: FakeClock
    lose_next: Callable[[], None]


@pytest.fixture(params=BOTH)
def queue(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Queue]:
    lose = {"sqlite": fail_fsync, "postgres": lose_connection}[request.param](monkeypatch)
    clock = FakeClock()
    with new_address(request.param, tmp_path) as address:
        store = Store(open_address(address, clock=clock), TYPES)
        yield Queue(store, clock, lose)
        assert store.verify() == []
        store.close()


def fail_fsync(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    failures: list[int] = []
    real = os.fdatasync

    def flush(fd: int) -> None:
        real(fd)
        if failures:
            raise OSError(failures.pop(), "the disk is not sure")

    monkeypatch.setattr(os, "fdatasync", flush)
    return lambda: failures.append(errno.EIO)


def lose_connection(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    losses: list[str] = []
    commit, commit_all = Handle.commit, Handle.commit_all

    def lose(handle: Handle) -> None:
        if losses:
            handle.connection.close()
            raise psycopg.OperationalError(losses.pop())

    def one(handle: Handle, calls: Calls, *, lasting: bool) -> None:
        commit(handle, calls, lasting=lasting)
        lose(handle)

    def many(handle: Handle, calls: NamedCalls) -> list[RawRows]:
        answers = commit_all(handle, calls)
        lose(handle)
        return answers

    monkeypatch.setattr(Handle, "commit", one)
    monkeypatch.setattr(Handle, "commit_all", many)
    return lambda: losses.append("server closed the connection unexpectedly")


def test_report_with_an_unknown_commit_can_be_repeated(queue: Queue) -> None:
    store = queue.store
    job_id = add(store)
    report = Report(take(store).ref, Succeeded(then=(NewJob("plain", {"n": 2}),)))
    queue.lose_next()
    with pytest.raises(StoreError):
        store.exchange("w1", [report])
    again = store.exchange("w1", [report])
    assert (again.accepted, again.fenced) == ((), (report.ref,))
    assert store.jobs.get(job_id).status == "completed"
    assert [one.args for one in store.jobs.list().jobs if one.id != job_id] == [{"n": 2}]


def test_exchange_with_an_unknown_commit_can_be_repeated_and_its_claims_recovered(queue: Queue) -> None:
    store = queue.store
    first, second = add(store), add(store)
    report = Report(take(store).ref, Succeeded())
    queue.lose_next()
    with pytest.raises(StoreError):
        store.exchange("w1", [report], [asks()])
    again = store.exchange("w1", [report], [asks()])
    assert (again.fenced, again.batches) == ((report.ref,), ((),))
    assert (store.jobs.get(first).status, store.jobs.get(second).status) == ("completed", "processing")
    queue.clock.advance(61.0)
    assert store.maintenance.recover().requeued == (second,)


def test_enqueue_with_an_unknown_commit_can_be_repeated_with_a_dedupe_key(queue: Queue) -> None:
    job = NewJob("plain", {}, dedupe_key="once")
    queue.lose_next()
    with pytest.raises(StoreError):
        queue.store.jobs.enqueue(job)
    assert not queue.store.jobs.enqueue(job).created
    assert len(queue.store.jobs.list().jobs) == 1


@pytest.mark.parametrize("queue", [pytest.param("postgres", marks=pytest.mark.postgres)], indirect=True)
def test_claim_with_an_unknown_commit_is_recovered_after_its_lease(queue: Queue) -> None:
    store = queue.store
    job = add(store)
    queue.lose_next()
    with pytest.raises(StoreError):
        claim(store, lease=60.0)
    assert claim(store) == ()
    queue.clock.advance(61.0)
    store.maintenance.recover()
    queue.clock.advance(60.0)
    assert take(store).id == job
