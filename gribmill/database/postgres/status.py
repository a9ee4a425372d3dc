"""The state of a PostgreSQL database, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

from psycopg.rows import dict_row

from gribmill.database.postgres.connection import Connection, connect, plain_faults
from gribmill.database.postgres.migrate import applied_versions, migrations
from gribmill.database.postgres.statements import statement
from gribmill.database.postgres.tenant_role import ADVICE, RoleState, role_state
from gribmill.database.status import DatabaseStatus, IndexStatus, OldTransaction, TableStatus
from gribmill.database_url import hide_password

SUPPORTED = range(15, 19)
# Vacuum keeps every row that an open transaction may still see.
LONG_TRANSACTION_SECONDS = 300.0
MANY_DEAD_ROWS = 10_000
DEAD_PART = 0.2
UNKNOWN_ROWS = 10_000
CROWDED_PART = 0.8
# Rewriting a table or an index pays off if more than this fraction and this many bytes of it are unused.
WASTED_PART = 0.5
WASTED_TABLE_BYTES = 64 << 20
WASTED_INDEX_BYTES = 16 << 20


def postgres_status(url: str) -> DatabaseStatus:
    """Read the status; needs no special rights."""
    with plain_faults(url), closing(connect(url)) as connection:
        server = dict(_rows(connection, "status/server")[0])
        oldest = [OldTransaction(**row) for row in _rows(connection, "status/oldest_transaction")]
        tables = tuple(TableStatus(**row) for row in _rows(connection, "status/tables"))
        indexes = tuple(IndexStatus(**row) for row in _rows(connection, "status/indexes"))
        applied = applied_versions(connection)
        missing = tuple(one.version for one in migrations() if one.version not in applied)
        role = RoleState(ready=False, wanted=False) if missing else role_state(connection)
    return DatabaseStatus(
        engine="PostgreSQL",
        version=server["version"],
        place=hide_password(url),
        bytes=server["bytes"],
        free_bytes=0,
        migrations=tuple(sorted(applied)),
        missing_migrations=missing,
        connections=server["connections"],
        max_connections=server["max_connections"],
        oldest_transaction=oldest[0] if oldest else None,
        tables=tables,
        indexes=indexes,
        advice=(
            *_advice(server, missing, oldest, tables),
            *_space_advice(tables, indexes),
            *([ADVICE] if role.wanted and not role.ready else []),
        ),
    )


def _rows(connection: Connection, name: str) -> list[dict[str, Any]]:
    with connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(statement(name).encode()).fetchall()


def _advice(
    server: dict[str, Any], missing: tuple[int, ...], oldest: list[OldTransaction], tables: tuple[TableStatus, ...]
) -> Iterator[str]:
    if server["major"] not in SUPPORTED:
        yield f"gribmill is tested with PostgreSQL {SUPPORTED[0]} to {SUPPORTED[-1]}, not {server['major']}: upgrade it"
    if missing:
        yield "its tables are missing or older than this gribmill: run `gribmill db migrate`"
    if not server["durable"]:
        yield "fsync, full_page_writes or synchronous_commit is off, and a power failure can lose jobs: switch them on"
    for one in oldest:
        if one.seconds > LONG_TRANSACTION_SECONDS:
            yield (
                f"process {one.pid} ({one.application or 'unnamed'}) has a transaction that is {one.seconds:.0f} s old"
                f", so that dead rows cannot be removed: end it with SELECT pg_terminate_backend({one.pid})"
            )
    for reason in server["holding_back"] or []:
        yield f"{reason} keeps dead rows from being removed: drop it if it is no longer needed"
    if server["connections"] > server["max_connections"] * CROWDED_PART:
        yield (
            f"{server['connections']} of {server['max_connections']} connections are in use:"
            " raise max_connections, or put PgBouncer in front"
        )
    for table in tables:
        if _needs_vacuum(table):
            yield f"{table.name} has {table.dead_rows} dead and {table.rows} live rows: VACUUM ANALYZE {table.name}"
        elif table.rows > UNKNOWN_ROWS and table.analyzed_seconds_ago is None:
            yield f"{table.name} has no statistics for the planner: ANALYZE {table.name}"
    if not server["autovacuum"]:
        yield "autovacuum is off: switch it on, or queries become slower every day"


def _space_advice(tables: tuple[TableStatus, ...], indexes: tuple[IndexStatus, ...]) -> Iterator[str]:
    for index in indexes:
        if not index.is_valid:
            yield f"the index {index.name} is incomplete, because its creation was interrupted: DROP INDEX {index.name}"
        elif _is_wasted(index.wasted_bytes, index.bytes, WASTED_INDEX_BYTES):
            yield (
                f"about {_megabytes(index.wasted_bytes)} of the index {index.name} ({_megabytes(index.bytes)}) are"
                f" empty, so that it takes more memory and reads than it needs: REINDEX INDEX CONCURRENTLY {index.name}"
            )
    for table in tables:
        if not _needs_vacuum(table) and _is_wasted(table.wasted_bytes, table.bytes, WASTED_TABLE_BYTES):
            yield (
                f"about {_megabytes(table.wasted_bytes)} of {table.name} ({_megabytes(table.bytes)} with its indexes)"
                " hold no rows, and only new rows will fill them: to shrink it, stop the workers and run"
                f" VACUUM FULL {table.name}"
            )


def _needs_vacuum(table: TableStatus) -> bool:
    return table.dead_rows > MANY_DEAD_ROWS and table.dead_rows > table.rows * DEAD_PART


def _is_wasted(wasted: int | None, size: int, least: int) -> bool:
    return wasted is not None and wasted > least and wasted > size * WASTED_PART


def _megabytes(size: int | None) -> str:
    return f"{(size or 0) / 1e6:,.0f} MB"
