"""Read access to a database through the server."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from typing import Any, NoReturn, TypeVar

from gribmill.database.protocol import Snapshot, Transaction
from gribmill.database.records import RawRows
from gribmill.queue.errors import NotAllowed
from gribmill.queue.model import (
    BrokenTrigger,
    ClaimRequest,
    Enqueued,
    Exchange,
    PreparedJob,
    Report,
    Succeeded,
    Trigger,
    Violation,
)
from gribmill.queue.remote.messages import ReadMessage, TableMessage
from gribmill.queue.remote.reads import params_to_json
from gribmill.queue.remote.server_connection import ServerConnection

RecordT = TypeVar("RecordT")


class RemoteSnapshot:
    """Each statement reads its own snapshot. Handlers need no more, because other hosts may change rows at any time."""

    def __init__(self, server: ServerConnection) -> None:
        self._server = server
        self._now: datetime | None = None

    @property
    def now(self) -> datetime:
        """The database's clock at the last statement; before the first, the local clock."""
        return self._now or datetime.now(UTC)

    def query(self, record: type[RecordT], name: str, params: Mapping[str, Any] = {}) -> list[RecordT]:
        return self.table(name, params).records(record)

    def first(self, record: type[RecordT], name: str, params: Mapping[str, Any] = {}) -> RecordT | None:
        found = self.query(record, name, params)
        return found[0] if found else None

    def table(self, name: str, params: Mapping[str, Any] = {}) -> RawRows:
        message = ReadMessage(statement=name, params=params_to_json(params))
        found = self._server.look("read", message, TableMessage)
        self._now = datetime.fromtimestamp(found.now, UTC)
        return RawRows(found.columns, [*found.rows])

    def list_triggers(self) -> list[Trigger | BrokenTrigger]:
        refuse()

    def get_trigger(self, trigger_id: int) -> Trigger | BrokenTrigger | None:
        refuse()

    def any_trigger_due(self, types: Sequence[str]) -> bool:
        refuse()

    def any_lost(self, farthest_lease_seconds: float) -> bool:
        refuse()

    def violations(self) -> list[Violation]:
        refuse()


class RemoteDatabase:
    """One connection per thread."""

    workers_outlive_it = True

    def __init__(self, url: str, token: str, lease_seconds: float) -> None:
        self._options = (url, token, lease_seconds)
        self._threads = threading.local()

    @property
    def server(self) -> ServerConnection:
        """The connection of this thread; a forked process makes its own."""
        if getattr(self._threads, "pid", None) != os.getpid():
            self._threads.server = ServerConnection(*self._options)
            self._threads.pid = os.getpid()
        server: ServerConnection = self._threads.server
        return server

    def for_tenant(self, name: str) -> RemoteDatabase:
        refuse()

    @contextmanager
    def read(self) -> Iterator[Snapshot]:
        yield RemoteSnapshot(self.server)

    def write(self) -> AbstractContextManager[Transaction]:
        refuse()

    def turn(
        self, worker_id: str, reports: Sequence[tuple[Report, Succeeded]], claims: Sequence[ClaimRequest]
    ) -> Exchange | None:
        refuse()

    def insert_job(self, job: PreparedJob) -> Enqueued:
        refuse()

    def may_have_work(self) -> bool:
        """Always true: only a claim can find out."""
        return True

    def tidy(self) -> None:
        """The server does it."""

    def announce(self) -> None:
        """The server does it."""

    def listener(self) -> SilentListener:
        return SilentListener()

    def close(self) -> None:
        if getattr(self._threads, "pid", None) == os.getpid():
            self._threads.server.close()
            del self._threads.pid


class SilentListener:
    """Never becomes readable: a worker without a database polls."""

    def __init__(self) -> None:
        self._read_end, self._write_end = os.pipe()

    def fileno(self) -> int:
        return self._read_end

    def drain(self) -> None:
        """There are never notifications."""

    def close(self) -> None:
        os.close(self._read_end)
        os.close(self._write_end)


def refuse() -> NoReturn:
    raise NotAllowed("a worker without a database connection cannot do this: run it on a host that has one")
