"""Named statements on one connection, at one point in time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime
from typing import Any, TypeVar

from gribmill.database.postgres.adaptation import array, bind_all, moment
from gribmill.database.postgres.handle import Cursor, Handle, raw_rows
from gribmill.database.postgres.statements import statement, statement_names
from gribmill.database.postgres.tenant_role import ENTER, LEAVE
from gribmill.database.records import RawRows
from gribmill.database.verbs.session import RawParams
from gribmill.queue.model import Enqueued, PreparedJob
from gribmill.queue.times import Clock

RecordT = TypeVar("RecordT")
Call = tuple[str, RawParams]
"""A statement's name and its parameters."""
NamedCall = tuple[str, Mapping[str, Any]]
_NOTHING = nullcontext()


class PostgresSession:
    """The session that the verbs use. In this folder times are text (`stamp`), above it they are datetimes (`now`).

    The transaction begins with its first statement, in the same round trip.
    """

    __slots__ = (
        "_begin",
        "_clock",
        "_handle",
        "_is_tenant",
        "_tenant",
        "_waiting",
        "_wants_tenant",
        "begun",
        "lasting",
        "seconds",
        "source_job",
        "stamp",
        "wakes",
    )

    def __init__(self, handle: Handle, clock: Clock, begin: str, tenant: str | None = None) -> None:
        self._clock = clock
        self.set_time()
        self.lasting = True
        self.wakes = False
        self.source_job: int | None = None
        self.begun = False
        self._handle = handle
        self._begin = begin
        self._tenant = tenant
        self._is_tenant = self._wants_tenant = tenant is not None
        self._waiting: list[Call] = []

    def set_time(self) -> None:
        """Set the time of the following statements: when the transaction begins, or after waiting for a lock."""
        self.seconds = self._clock()
        self.stamp = moment(self.seconds)

    def insert_jobs(self, jobs: Sequence[PreparedJob]) -> list[Enqueued]:
        """A verb that other verbs use; implemented by the transaction."""
        raise NotImplementedError

    def hold_edits(self) -> None:
        self.send("edits/hold")

    def hold_groups(self, job_ids: Sequence[int]) -> None:
        """Lock the groups before their jobs, the same order as when a group is cancelled."""
        ids = {"ids": array(job_ids)}
        self.send("groups/hold_alone", ids)
        self.send("groups/hold", ids)

    # For the store

    @property
    def now(self) -> datetime:
        """The time in whole milliseconds, as stored in the database."""
        return datetime.fromtimestamp(round(self.seconds, 3), UTC)

    def query(self, record: type[RecordT], name: str, params: Mapping[str, Any] = {}) -> list[RecordT]:
        return self.records(record, name, {"now": self.stamp, **bind_all(params)})

    def first(self, record: type[RecordT], name: str, params: Mapping[str, Any] = {}) -> RecordT | None:
        found = self.query(record, name, params)
        return found[0] if found else None

    def table(self, name: str, params: Mapping[str, Any] = {}) -> RawRows:
        return raw_rows(self.execute(name, {"now": self.stamp, **bind_all(params)}))

    def change(self, name: str, params: Mapping[str, Any] = {}) -> int:
        return self.execute(name, {"now": self.stamp, **bind_all(params)}).rowcount

    def send(self, name: str, params: RawParams = ()) -> None:
        bound = {"now": self.stamp, **bind_all(params)} if isinstance(params, Mapping) else params
        self._waiting.append((name, bound))

    # For the verbs

    def execute(self, name: str, params: RawParams = ()) -> Cursor:
        return self.together((name, params))[0]

    def together(self, *calls: Call) -> list[Cursor]:
        """Run several statements in one round trip, after those that wait. Each sees the effects of those before it."""
        waiting, self._waiting = self._waiting, []
        return self._together([*waiting, *calls])[len(waiting) :]

    def _together(self, calls: Sequence[Call]) -> list[Cursor]:
        sent = _texts(calls)
        if not self.begun:
            self.begun = True  # even if this fails, there is a transaction to roll back
            self._is_tenant = self._wants_tenant
            return self._handle.begin(self._begin, sent, self._tenant if self._is_tenant else None)
        if self._is_tenant is self._wants_tenant:
            return self._handle.send(sent)
        self._is_tenant = self._wants_tenant
        switch: tuple[str, RawParams] = (ENTER, (self._tenant,)) if self._is_tenant else (LEAVE, ())
        return self._handle.send([switch, *sent])[1:]

    def commit(self) -> None:
        """Commit, with the statements that still wait."""
        waiting, self._waiting = self._waiting, []
        if self.begun:
            self._handle.commit(_texts(waiting), lasting=self.lasting)
        elif waiting:
            self._together(waiting)
            self._handle.commit((), lasting=self.lasting)

    def across_tenants(self) -> AbstractContextManager[None]:
        return _NOTHING if self._tenant is None else self._as_owner()

    @contextmanager
    def _as_owner(self) -> Iterator[None]:
        self._run_waiting()
        before, self._wants_tenant = self._wants_tenant, False
        try:
            yield
            self._run_waiting()
        finally:
            self._wants_tenant = before

    def _run_waiting(self) -> None:
        if self._waiting:
            self.together()

    def execute_many(self, name: str, rows: Iterable[RawParams]) -> int:
        """Run a statement for each row; returns the number of changed rows."""
        calls = [(name, row) for row in rows]
        return sum(cursor.rowcount for cursor in self.together(*calls)) if calls else 0

    def records(self, record: type[RecordT], name: str, params: RawParams = ()) -> list[RecordT]:
        return raw_rows(self.execute(name, params)).records(record)

    def rows(self, name: str, params: RawParams = ()) -> list[dict[str, Any]]:
        return read_rows(self.execute(name, params))

    def names_in(self, folder: str) -> Sequence[str]:
        return statement_names(folder)

    def after(self, seconds: float) -> str:
        """The time `seconds` from now."""
        return moment(self.seconds + seconds)


def _texts(calls: Sequence[Call]) -> list[Call]:
    return [(statement(name), params) for name, params in calls]


def read_rows(cursor: Cursor) -> list[dict[str, Any]]:
    columns, rows = raw_rows(cursor)
    return [dict(zip(columns, row, strict=True)) for row in rows]
