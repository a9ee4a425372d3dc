"""The status of the database itself: its size, what slows it down, and advice."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TableStatus:
    """A table with its approximate number of live and dead rows."""

    name: str
    rows: int
    dead_rows: int
    bytes: int
    vacuumed_seconds_ago: float | None
    analyzed_seconds_ago: float | None
    wasted_bytes: int | None = None
    """Space that holds no live rows; an estimate, None if unknown."""

    @property
    def dead_share(self) -> float:
        return self.dead_rows / max(1, self.rows + self.dead_rows)


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """An index, and how often it was used since statistics were reset."""

    name: str
    table: str
    scans: int
    bytes: int
    is_valid: bool = True
    """False for an index that an interrupted `CREATE INDEX CONCURRENTLY` left behind."""
    wasted_bytes: int | None = None
    """Space that holds no entries; an estimate, None if unknown."""


@dataclass(frozen=True, slots=True)
class OldTransaction:
    """The oldest open transaction: vacuum keeps every row that it may see."""

    pid: int
    application: str
    state: str
    seconds: float


@dataclass(frozen=True, slots=True)
class DatabaseStatus:
    """The status of a database. `advice` lists what to do, most important first."""

    engine: str
    version: str
    place: str
    bytes: int
    free_bytes: int
    migrations: tuple[int, ...]
    missing_migrations: tuple[int, ...]
    connections: int | None
    max_connections: int | None
    oldest_transaction: OldTransaction | None
    tables: tuple[TableStatus, ...]
    indexes: tuple[IndexStatus, ...]
    advice: tuple[str, ...]

    @property
    def usable(self) -> bool:
        return not self.missing_migrations
