"""What a move needs of the database that is read and of the one that is filled."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from gribmill.queue.errors import QueueError

Row = tuple[Any, ...]
Kind = Literal["time", "text", "number"]

PROGRESS = "move_progress"
"""The table with the steps that are done. It is there from a move's beginning to its end."""
PROGRESS_COLUMNS = "table_name text PRIMARY KEY, last_key text NOT NULL, row_count bigint NOT NULL"
RESERVED_BY = "gribmill db move"
# Of this moment, of one database, or counted again from the rest.
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
        "direct_reservations",
        "reservation_workers",
    }
)
# Where these have rows, a database is in use.
IN_USE = ("jobs", "events", "runs", "job_groups", "webhooks")


class MoveRefused(QueueError):
    """The move cannot begin, or its result is not what it should be; nothing was lost."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table with its columns and its primary key."""

    name: str
    columns: Mapping[str, Kind]
    key: tuple[str, ...]

    def key_of(self, row: Row) -> str:
        """The key of a row as it is noted: where a resumed move goes on."""
        names = list(self.columns)
        return json.dumps([row[names.index(name)] for name in self.key])


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a table has been copied."""

    last_key: str
    rows: int


class Side(Protocol):
    """One of the two databases. Rows are tuples of text and numbers that both understand; times are UTC text."""

    label: str
    """How it is called in messages; without a password."""

    def held(self) -> AbstractContextManager[None]:
        """Keeps all other writers out while it is open."""
        ...

    def table_names(self) -> set[str]: ...

    def in_use(self) -> bool:
        """Whether it has jobs, events or runs."""
        ...

    def page(self, table: Table, after: str | None, limit: int) -> list[Row]:
        """The next rows in order of their key."""
        ...

    def begin(self, source: str) -> dict[str, Progress] | None:
        """How far an earlier move from this source came; None if another source's move was not finished."""
        ...

    def clear(self, tables: Sequence[Table], source: str) -> None:
        """Remove what a new database has by itself, and note that a move has begun. No worker starts a job."""
        ...

    def add(self, table: Table, rows: Sequence[Row], done: Progress) -> None:
        """Add rows and note how far the copy has come, in one transaction. No trigger of the database runs."""
        ...

    def next_ids(self, tables: Sequence[Table]) -> dict[str, int]:
        """The highest number that each table has given to a row, also if that row is gone."""
        ...

    def finish(self, next_ids: Mapping[str, int]) -> None:
        """Go on counting there, count the jobs, and forget the move."""
        ...
