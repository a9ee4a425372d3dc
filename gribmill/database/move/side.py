"""The protocol of a move's source and target."""

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
