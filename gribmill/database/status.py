"""What is known about a database itself: its size, what slows it down, and what to do."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TableStatus:
    """A table: about how many rows it has, and how many are dead until they are vacuumed."""

    name: str
    rows: int
    dead_rows: int
    bytes: int
    vacuumed_seconds_ago: float | None
    analyzed_seconds_ago: float | None


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """An index, and how often it was used since the statistics began."""

    name: str
    table: str
    scans: int
    bytes: int


@dataclass(frozen=True, slots=True)
class OldTransaction:
    """The transaction that has been open for longest: no row that it might see can be removed."""

    pid: int
    application: str
    state: str
    seconds: float


@dataclass(frozen=True, slots=True)
class DatabaseStatus:
    """The state of a database. `advice` says what to do, most important first; empty when nothing is."""

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
