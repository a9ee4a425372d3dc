"""Readers that resume after an event miss none, in whatever order transactions begin and commit."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial

import pytest

from gribmill.database.protocol import Transaction
from gribmill.queue.model import NewEvent
from gribmill.queue.store import Store
from tests.queue.store.crew import together
from tests.queue.store.tested_backend import BackendUnderTest, PostgresUnderTest
from tests.waiting import wait_until

EACH = 40
PUBLISHERS = 4


class Tail:
    """Reads like `events tail --follow` and server-sent events: each time, everything after the last event seen."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._last = store.events.newest_id()
        self.seen: list[object] = []

    def read(self) -> list[object]:
        found = self._store.events.after(self._last)
        if found:
            self._last = found[-1].id
        self.seen += [event.payload["n"] for event in found]
        return self.seen

    def read_until(self, *wanted: object) -> None:
        """Transactions of other databases on the same server may hold events back for a moment."""
        wait_until(lambda: {*self.read()} >= {*wanted}, what=f"the events {wanted}")
        assert sorted(map(str, self.seen)) == sorted(map(str, wanted)), "an event was seen twice"


@pytest.fixture
def server() -> Iterator[PostgresUnderTest]:
    backend = PostgresUnderTest()
    yield backend
    backend.close()


def event(n: object) -> NewEvent:
    return NewEvent("test.event", {"n": n})


def publish(store: Store, n: object) -> None:
    with store.database.write() as tx:
        tx.publish(event(n))


def publish_now(tx: Transaction, n: object) -> None:
    """Publish with a statement that needs a result, so that the event does not wait for the commit."""
    tx.publish(event(n))
    tx.list_triggers()


@pytest.mark.postgres
def test_event_is_held_back_while_a_lower_id_is_uncommitted(server: PostgresUnderTest) -> None:
    tail, other = Tail(server.store), server.open()
    with server.store.database.write() as slow:
        publish_now(slow, "first")
        publish(other, "second")
        assert other.events.after(0) == []
        assert other.events.newest_id() == 0
    tail.read_until("first", "second")
    assert tail.seen == ["first", "second"]


@pytest.mark.postgres
def test_event_with_a_lower_id_may_follow_one_with_a_higher_id(server: PostgresUnderTest) -> None:
    """The older transaction takes its id last and commits first."""
    old, young, reader = server.store, server.open(), server.open()
    tail = Tail(reader)
    with young.database.write() as slow:
        with old.database.write() as quick:
            quick.change("events/record", {"name": "tile.built"})  # assigns the transaction id
            publish_now(slow, "lower id")
            publish_now(quick, "higher id")
        tail.read_until("higher id")
    tail.read_until("higher id", "lower id")
    assert tail.seen == ["higher id", "lower id"]


@pytest.mark.postgres
def test_events_of_a_dump_from_a_busier_server_are_not_held_back(server: PostgresUnderTest) -> None:
    publish(server.store, "restored")
    server.by_hand("UPDATE events SET xid = '999999999999'")
    reader = server.open()
    tail = Tail(reader)
    assert [one.payload["n"] for one in reader.events.after(0)] == ["restored"]
    publish(server.store, "new")
    tail.read_until("new")


def test_reader_that_resumes_after_a_pruned_event_sees_what_follows(store: Store, backend: BackendUnderTest) -> None:
    for n in range(3):
        publish(store, n)
    last = wait_until(lambda: len(found := store.events.after(0)) == 3 and found[1].id)
    assert isinstance(last, int)
    backend.by_hand("DELETE FROM events WHERE id <= ?", last)
    assert [one.payload["n"] for one in store.events.after(last)] == [2]
    backend.by_hand("DELETE FROM events")
    assert store.events.after(last) == []


@pytest.mark.slow
def test_reader_sees_every_event_of_many_publishers_once(backend: BackendUnderTest) -> None:
    stores = [backend.open() for _ in range(PUBLISHERS)]
    tail, over = Tail(backend.open()), threading.Event()

    def publish_some(number: int, store: Store) -> None:
        for n in range(EACH):
            with store.database.write() as tx:
                if n % 3 == 0:
                    tx.change("events/record", {"name": "tile.built"})
                tx.publish(event(f"{number} {n}"))

    def read() -> None:
        while not over.is_set():
            tail.read()

    reading = threading.Thread(target=read)
    reading.start()
    try:
        together(*(partial(publish_some, number, store) for number, store in enumerate(stores)))
    finally:
        over.set()
        reading.join()
    tail.read_until(*(f"{number} {n}" for number in range(PUBLISHERS) for n in range(EACH)))
