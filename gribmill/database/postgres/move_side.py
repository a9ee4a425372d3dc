"""A PostgreSQL database as source or target of a move, and the tables of both sides."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from graphlib import TopologicalSorter

from psycopg import sql

from gribmill.database.move import (
    IN_USE,
    NOT_COPIED,
    PROGRESS,
    PROGRESS_COLUMNS,
    RESERVED_BY,
    Kind,
    Progress,
    Row,
    Table,
)
from gribmill.database.postgres.connection import connect, plain_faults
from gribmill.database_url import hide_password

_KINDS: dict[str, Kind] = {"timestamp with time zone": "time", "text": "text"}
# Columns that `jobs.db` does not have, or generates.
_NOT_MOVED = "'steps', 'trigger_id'"
_TIME = "to_char({} AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS')"


@contextmanager
def postgres_side(url: str) -> Iterator[PostgresSide]:
    """Open the database; translates PostgreSQL's errors into errors of the queue."""
    with plain_faults(url), closing(PostgresSide(url)) as side:
        yield side


class PostgresSide:
    """A database with an up-to-date schema. Has its own connection, because a move outlasts normal statements."""

    def __init__(self, url: str) -> None:
        self.label = hide_password(url)
        self._connection = connect(url)
        for setting in ("statement_timeout", "idle_in_transaction_session_timeout", "lock_timeout"):
            self._connection.execute(f"SET {setting} = 0")

    def close(self) -> None:
        self._connection.close()

    def tables(self) -> list[Table]:
        """The tables to copy, each after those it refers to."""
        columns: dict[str, dict[str, Kind]] = {}
        for table, name, kind in self._connection.execute(
            "SELECT table_name, column_name, data_type FROM information_schema.columns"
            " WHERE table_schema = current_schema() AND is_generated = 'NEVER' AND data_type <> 'xid8'"
            f" AND NOT (table_name = 'jobs' AND column_name IN ({_NOT_MOVED})) ORDER BY table_name, ordinal_position"
        ).fetchall():
            columns.setdefault(table, {})[name] = _KINDS.get(kind, "number")
        keys: dict[str, list[str]] = {}
        for table, name in self._connection.execute(
            "SELECT c.relname, a.attname FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid"
            " CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k(attnum, place)"
            " JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum"
            " WHERE i.indisprimary AND c.relnamespace = current_schema()::regnamespace ORDER BY c.relname, k.place"
        ).fetchall():
            keys.setdefault(table, []).append(name)
        names = self.table_names() - NOT_COPIED
        order = TopologicalSorter({name: sorted(self._referred(name) & names - {name}) for name in sorted(names)})
        return [Table(name, columns[name], tuple(keys[name])) for name in order.static_order()]

    def _referred(self, table: str) -> set[str]:
        rows = self._connection.execute(
            "SELECT confrelid::regclass::text FROM pg_constraint WHERE contype = 'f' AND conrelid = %s::regclass",
            (table,),
        )
        return {name for (name,) in rows.fetchall()}

    @contextmanager
    def held(self) -> Iterator[None]:
        with self._connection.transaction():
            names = sql.SQL(", ").join(sql.Identifier(name) for name in sorted(self.table_names()))
            self._connection.execute(sql.SQL("LOCK TABLE {} IN SHARE MODE").format(names))
            yield

    def table_names(self) -> set[str]:
        rows = self._connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
        return {name for (name,) in rows.fetchall()}

    def in_use(self) -> bool:
        return any(self._value(sql.SQL("SELECT EXISTS (SELECT 1 FROM {})").format(sql.Identifier(t))) for t in IN_USE)

    def page(self, table: Table, after: str | None, limit: int) -> list[Row]:
        key = sql.SQL(", ").join(map(sql.Identifier, table.key))
        names = [
            sql.SQL(_TIME if kind == "time" else "{}").format(sql.Identifier(name))
            for name, kind in table.columns.items()
        ]
        marks = sql.SQL(", ").join(sql.Placeholder() for _ in table.key)
        later = sql.SQL("WHERE ({}) > ({})").format(key, marks) if after is not None else sql.SQL("")
        query = sql.SQL("SELECT {} FROM {} {} ORDER BY {} LIMIT {}").format(
            sql.SQL(", ").join(names), sql.Identifier(table.name), later, key, sql.Literal(limit)
        )
        return self._connection.execute(query, json.loads(after) if after is not None else ()).fetchall()

    def begin(self, source: str) -> dict[str, Progress] | None:
        if PROGRESS not in self.table_names():
            return {}
        rows = self._connection.execute(f"SELECT table_name, last_key, row_count FROM {PROGRESS}").fetchall()
        known = {name: Progress(key, count) for name, key, count in rows}
        return known if known.pop("", Progress("", 0)).last_key == source else None

    def clear(self, tables: Sequence[Table], source: str) -> None:
        with self._connection.transaction():
            for table in reversed(tables):
                with self._without_triggers(table):
                    self._connection.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(table.name)))
            self._connection.execute("DELETE FROM direct_reservations")
            self._connection.execute(f"CREATE TABLE {PROGRESS} ({PROGRESS_COLUMNS})")
            self._connection.execute(f"INSERT INTO {PROGRESS} VALUES ('', %s, 0)", (source,))
            self._connection.execute(
                "INSERT INTO direct_reservations VALUES (%s, '*', now(), %s, now() + interval '1 day', 'ACTIVE')",
                (PROGRESS, RESERVED_BY),
            )

    def add(self, table: Table, rows: Sequence[Row], done: Progress) -> None:
        names = sql.SQL(", ").join(map(sql.Identifier, table.columns))
        into = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(table.name), names)
        with self._connection.transaction(), self._without_triggers(table):
            with self._connection.cursor() as cursor, cursor.copy(into) as copy:
                for row in rows:
                    copy.write_row(row)
            self._connection.execute(
                f"INSERT INTO {PROGRESS} VALUES (%s, %s, %s) ON CONFLICT (table_name)"
                " DO UPDATE SET last_key = excluded.last_key, row_count = excluded.row_count",
                (table.name, done.last_key, done.rows),
            )
            self._connection.execute(
                "UPDATE direct_reservations SET expires_at = now() + interval '1 day' WHERE reservation_id = %s",
                (PROGRESS,),
            )

    def next_ids(self, tables: Sequence[Table]) -> dict[str, int]:
        found: dict[str, int] = {}
        for table in tables:
            if (sequence := self._sequence(table.name)) is not None:
                query = sql.SQL("SELECT last_value FROM {} WHERE is_called").format(sequence)
                if (highest := self._value(query)) is not None:
                    found[table.name] = int(highest)
        return found

    def finish(self, next_ids: Mapping[str, int]) -> None:
        with self._connection.transaction():
            for name, highest in next_ids.items():
                if highest > 0 and (sequence := self._sequence(name)) is not None:
                    self._connection.execute("SELECT setval(%s, %s)", (sequence.as_string(self._connection), highest))
            self._connection.execute("DELETE FROM job_counts")
            self._connection.execute("DELETE FROM job_count_changes")
            self._connection.execute(
                "INSERT INTO job_counts SELECT tenant_id, type, status, count(*) FROM jobs"
                " WHERE tenant_id <> 'global' OR status NOT IN ('pending','processing') GROUP BY 1, 2, 3"
            )
            # Database triggers, which were disabled, write this column.
            self._connection.execute(
                "UPDATE jobs SET trigger_id = gribmill_trigger_of(source, source_ref)"
                " WHERE source IN ('schedule','event')"
            )
            self._connection.execute("DELETE FROM direct_reservations WHERE reservation_id = %s", (PROGRESS,))
            self._connection.execute(f"DROP TABLE {PROGRESS}")
        self._connection.execute("ANALYZE")

    def _sequence(self, table: str) -> sql.Identifier | None:
        found = self._connection.execute(
            "SELECT pg_get_serial_sequence(table_name, 'id') FROM information_schema.columns"
            " WHERE table_schema = current_schema() AND table_name = %s AND column_name = 'id' AND is_identity = 'YES'",
            (table,),
        ).fetchone()
        return sql.Identifier(*str(found[0]).split(".")) if found else None

    def _value(self, query: sql.Composed) -> int | str | None:
        row = self._connection.execute(query).fetchone()
        return row[0] if row else None

    @contextmanager
    def _without_triggers(self, table: Table) -> Iterator[None]:
        """Disable triggers within a transaction; they are restored when it ends. Foreign keys are still checked."""
        name = sql.Identifier(table.name)
        self._connection.execute(sql.SQL("ALTER TABLE {} DISABLE TRIGGER USER").format(name))
        yield
        self._connection.execute(sql.SQL("ALTER TABLE {} ENABLE TRIGGER USER").format(name))
