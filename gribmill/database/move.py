"""Moves a database: copies each table in batches, in the order of their references, then compares all rows.

An interrupted move can be resumed. Both databases read and write rows in a common form: text, whole and other numbers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Literal, Protocol

from gribmill.errors import quoted
from gribmill.queue.errors import QueueError
from gribmill.queue.times import to_datetime, to_text

Row = tuple[Any, ...]
Kind = Literal["time", "text", "number"]

PROGRESS = "move_progress"
"""The table that records a move's progress; it exists only during a move."""
PROGRESS_COLUMNS = "table_name text PRIMARY KEY, last_key text NOT NULL, row_count bigint NOT NULL"
RESERVED_BY = "gribmill db move"
# Not copied: transient rows, and counts that are recomputed.
NOT_COPIED = frozenset(
    {
        PROGRESS,
        "schema_migrations",
        "workers",
        "worker_heartbeats",
        "queue_leases",
        "tenant_turns",
        "publisher_turns",
        "job_counts",
        "job_count_changes",
        "newest_deleted_job",
        "direct_reservations",
        "reservation_workers",
    }
)
# If these have rows, a database is in use.
IN_USE = ("jobs", "events", "runs", "job_groups", "webhooks")
BATCH_ROWS = 2000
_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}")
# PostgreSQL's text cannot hold a NUL character.
_NUL = "\N{REPLACEMENT CHARACTER}"


class MoveRefused(QueueError):
    """The move cannot start, or its result is wrong. The source is unchanged."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table with its columns and its primary key."""

    name: str
    columns: Mapping[str, Kind]
    key: tuple[str, ...]

    def key_of(self, row: Row) -> str:
        """A row's key as recorded, from which a resumed move continues."""
        names = list(self.columns)
        return json.dumps([row[names.index(name)] for name in self.key])


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a table has been copied."""

    last_key: str
    rows: int


class Side(Protocol):
    """One of the two databases. Rows are tuples of text and numbers in a common form; times are UTC text."""

    label: str
    """Its name in messages, without a password."""

    def held(self) -> AbstractContextManager[None]:
        """Block all other writers within this context."""
        ...

    def table_names(self) -> set[str]: ...

    def in_use(self) -> bool:
        """Whether it has jobs, events or runs."""
        ...

    def page(self, table: Table, after: str | None, limit: int) -> list[Row]:
        """The next rows, in key order."""
        ...

    def begin(self, source: str) -> dict[str, Progress] | None:
        """The progress of an interrupted move from this source; None if a move from another source is unfinished."""
        ...

    def clear(self, tables: Sequence[Table], source: str) -> None:
        """Remove the rows of a new database and record that a move has begun, so that no worker starts a job."""
        ...

    def add(self, table: Table, rows: Sequence[Row], done: Progress) -> None:
        """Add rows and record the progress in one transaction, with database triggers disabled."""
        ...

    def next_ids(self, tables: Sequence[Table]) -> dict[str, int]:
        """The highest id that each table has ever assigned."""
        ...

    def finish(self, next_ids: Mapping[str, int]) -> None:
        """Set the id sequences, recompute the job counts, and remove the progress table."""
        ...


@dataclass(frozen=True, slots=True)
class MovedTable:
    """A copied table: its number of rows, and how many of them this run copied."""

    name: str
    rows: int
    copied: int


def move(
    source: Side, target: Side, tables: Sequence[Table], tell: Callable[[str, int], None] = lambda name, rows: None
) -> list[MovedTable]:
    """Copy everything, then compare all rows of both. Calls `tell` with each table and its number of rows so far.

    An interrupted move resumes where it stopped. The source is not changed.
    """
    with source.held():
        known = target.begin(source.label)
        if known is None:
            raise MoveRefused(
                f"{target.label} has a part of another database from an unfinished move:"
                " move that one again, or use an empty database"
            )
        if not known:
            _check_new(source, target, tables)
            target.clear(tables, source.label)
        moved = [_copy(source, target, table, known.get(table.name), tell) for table in tables]
        for table in tables:
            _compare(source, target, table)
        target.finish(source.next_ids(tables))
    return moved


def _check_new(source: Side, target: Side, tables: Sequence[Table]) -> None:
    if target.in_use():
        raise MoveRefused(f"{target.label} has jobs or runs already: give an empty database")
    wanted = {table.name for table in tables}
    for side in (source, target):
        if other := side.table_names() - NOT_COPIED ^ wanted:
            raise MoveRefused(
                f"{side.label} does not have the tables of this gribmill ({', '.join(sorted(other))}):"
                " upgrade it with `gribmill db migrate` first"
            )


def _copy(
    source: Side, target: Side, table: Table, known: Progress | None, tell: Callable[[str, int], None]
) -> MovedTable:
    done = known or Progress("", 0)
    copied = 0
    for rows in _pages(source, table, done.last_key or None):
        copied += len(rows)
        done = Progress(table.key_of(rows[-1]), done.rows + len(rows))
        target.add(table, rows, done)
        tell(table.name, done.rows)
    return MovedTable(table.name, done.rows, copied)


def _compare(source: Side, target: Side, table: Table) -> None:
    sums = (_Checksum(), _Checksum())
    for side, checksum in zip((source, target), sums, strict=True):
        for rows in _pages(side, table, None):
            checksum.add(rows)
    if sums[0] != sums[1]:
        raise MoveRefused(
            f"{table.name} differs: {sums[0].rows} rows in {source.label}, {sums[1].rows} in {target.label}, or other"
            " contents. The source is unchanged; empty the target and move again"
        )


def _pages(side: Side, table: Table, after: str | None) -> Iterator[list[Row]]:
    while rows := side.page(table, after, BATCH_ROWS):
        after = table.key_of(rows[-1])
        yield [_common_row(table, row) for row in rows]


def _common_row(table: Table, row: Row) -> Row:
    """The row in the common form; raises MoveRefused if one of the databases cannot store a value."""
    if all(value is None or isinstance(value, int) for value in row):
        return row
    return tuple(
        value if value is None or isinstance(value, int) else _common(table, name, kind, value, row)
        for (name, kind), value in zip(table.columns.items(), row, strict=True)
    )


def _common(table: Table, name: str, kind: str, value: object, row: Row) -> object:
    if kind == "number" and isinstance(value, int | float):
        return value
    if isinstance(value, str) and kind == "text":
        return value.replace("\0", _NUL) if "\0" in value else value
    if isinstance(value, str) and kind == "time":
        if _TIME.fullmatch(value):
            return value
        if (moment := to_datetime(value)) is not None:
            return to_text(moment.timestamp())
    wanted = {"time": "a time", "text": "text", "number": "a number"}[kind]
    raise MoveRefused(
        f"{name} of the row {table.key_of(row)} in {table.name} is {quoted(value)}, which is not {wanted}:"
        " correct it, then move again"
    )


class _Checksum:
    """A checksum of a set of rows: their number, and an order-independent sum."""

    def __init__(self) -> None:
        self.rows = 0
        self._sum = 0

    def add(self, rows: Iterable[Row]) -> None:
        for row in rows:
            self.rows += 1
            digest = blake2b(repr(row).encode("utf-8", "surrogatepass"), digest_size=16).digest()
            self._sum = (self._sum + int.from_bytes(digest)) % (1 << 128)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Checksum) and (self.rows, self._sum) == (other.rows, other._sum)

    __hash__ = None  # type: ignore[assignment]
