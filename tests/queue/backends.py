"""Databases by address: the path of a SQLite file, or the URL of a PostgreSQL database."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Literal, LiteralString

import psycopg
import pytest

from gribmill.database.postgres import PostgresDatabase
from gribmill.database.protocol import Database
from gribmill.database.sqlite import SqliteDatabase
from tests.servers.shared_postgres import fresh_database

BOTH = ("sqlite", pytest.param("postgres", marks=pytest.mark.postgres))
"""The backends, for `pytest.mark.parametrize("address", BOTH, indirect=True)`."""


def open_address(address: str | Path, *, synchronous: Literal["full", "normal"] = "full", **options: Any) -> Database:
    """`synchronous` applies to SQLite only; PostgreSQL sets its durability on the server."""
    if is_postgres(address):
        return PostgresDatabase(str(address), **options)
    return SqliteDatabase(Path(address), synchronous=synchronous, **options)


def is_postgres(address: str | Path) -> bool:
    return str(address).startswith("postgresql://")


def by_hand(address: str | Path, statement: LiteralString) -> None:
    """Write to the database as another program would."""
    if is_postgres(address):
        with psycopg.connect(str(address)) as session:
            session.execute(statement)
    else:
        with closing(sqlite3.connect(address)) as connection, connection:
            connection.execute(statement)


def expire_leases(address: str | Path) -> None:
    """End the lease of every running job, as if its worker had been silent for too long."""
    by_hand(address, "UPDATE jobs SET lease_expires_at = '2026-01-01 00:00:00.000' WHERE status = 'processing'")


@contextmanager
def new_address(backend: str, folder: Path) -> Iterator[str]:
    """The address of a new, empty queue for one test."""
    if backend == "sqlite":
        yield str(folder / "jobs.db")
    else:
        with fresh_database("tables", make_tables) as url:
            yield url


def make_tables(url: str) -> None:
    PostgresDatabase(url).close()
