"""Upgrades a database to this version's schema, one numbered file at a time.

Migrations only add, so older workers can run alongside newer ones, and a schema that is newer than this gribmill is
used as is. A number denotes the same schema as in SQLite's migrations; PostgreSQL's begin at 12 and 1006.
"""

from __future__ import annotations

from gribmill.database.postgres.connection import Connection
from gribmill.database.postgres.statements import script, statement_names
from gribmill.database.statements import Migration, in_order

# The first key of gribmill's advisory locks.
LOCK_SPACE = 7217
MIGRATING = 0
IS_THERE = "SELECT to_regclass('schema_migrations') IS NOT NULL"


def migrations() -> list[Migration]:
    """All migrations, ascending."""
    return in_order(statement_names("migrations"))


def applied_versions(connection: Connection) -> set[int]:
    """The applied migrations; empty for a new database."""
    row = connection.execute(IS_THERE).fetchone()
    if row is None or not row[0]:
        return set()
    return {row[0] for row in connection.execute("SELECT version FROM schema_migrations").fetchall()}


def missing_migrations(connection: Connection) -> list[Migration]:
    applied = applied_versions(connection)
    return [migration for migration in migrations() if migration.version not in applied]


def migrate(connection: Connection) -> list[Migration]:
    """Apply all missing migrations in one transaction, and return them. Other processes wait."""
    with connection.transaction():
        connection.execute("SET LOCAL lock_timeout = '300s'")
        connection.execute("SET LOCAL statement_timeout = 0")
        connection.execute("SELECT pg_advisory_xact_lock(%s::int, %s::int)", (LOCK_SPACE, MIGRATING))
        connection.execute(
            "CREATE TABLE IF NOT EXISTS schema_migrations"
            " (version integer PRIMARY KEY, applied_at timestamptz NOT NULL)"
        )
        missing = missing_migrations(connection)
        for migration in missing:
            # Without parameters, psycopg sends the text unchanged, so a file may contain several statements.
            connection.execute(script(migration.name).encode())
            connection.execute("INSERT INTO schema_migrations VALUES (%s, now())", (migration.version,))
    return missing
