"""The database itself, and what was done to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from gribmill.views.view import View

if TYPE_CHECKING:
    from gribmill.database.status import DatabaseStatus
    from gribmill.pipeline.manage_database import MovedDatabase, UpgradedDatabase


class TableView(View):
    """A table: its approximate number of rows, dead rows that await VACUUM, and the space without live rows."""

    name: str
    rows: int
    dead_rows: int
    bytes: int
    vacuumed_seconds_ago: float | None
    analyzed_seconds_ago: float | None
    dead_share: float
    wasted_bytes: int | None


class IndexView(View):
    """An index: how often it was used since the statistics began, and the space without entries."""

    name: str
    table: str
    scans: int
    bytes: int
    wasted_bytes: int | None
    is_valid: bool


class OldTransactionView(View):
    """The transaction that has been open for longest."""

    pid: int
    application: str
    state: str
    seconds: float


class DatabaseStatusView(View):
    """The state of the database. `advice` says what to do, most important first."""

    engine: str
    version: str
    place: str
    bytes: int
    free_bytes: int
    migrations: list[int]
    missing_migrations: list[int]
    connections: int | None
    max_connections: int | None
    oldest_transaction: OldTransactionView | None
    tables: list[TableView]
    indexes: list[IndexView]
    advice: list[str]

    @classmethod
    def of(cls, status: DatabaseStatus) -> Self:
        old = status.oldest_transaction
        return cls.copy_of(
            status,
            migrations=list(status.migrations),
            missing_migrations=list(status.missing_migrations),
            oldest_transaction=OldTransactionView.copy_of(old) if old else None,
            tables=[TableView.copy_of(one) for one in status.tables],
            indexes=[IndexView.copy_of(one) for one in status.indexes],
            advice=list(status.advice),
        )


class UpgradeView(View):
    """The migrations that were applied; none if the tables were up to date."""

    place: str
    applied: list[int]
    migrations: list[int]

    @classmethod
    def of(cls, done: UpgradedDatabase) -> Self:
        return cls(place=done.place, applied=list(done.applied), migrations=list(done.migrations))


class MovedTableView(View):
    """A copied table: its rows, and how many of them this command copied."""

    name: str
    rows: int
    copied: int


class MoveView(View):
    """A completed move: every row is identical in both databases."""

    source: str
    target: str
    tables: list[MovedTableView]
    next_step: str

    @classmethod
    def of(cls, moved: MovedDatabase) -> Self:
        return cls(
            source=moved.source,
            target=moved.target,
            tables=[MovedTableView.copy_of(one) for one in moved.tables],
            next_step=moved.next_step,
        )
