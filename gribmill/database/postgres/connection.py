"""Connection set-up: timeouts, and network failures that are noticed in seconds rather than minutes."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import TupleRow

from gribmill.database.postgres.adaptation import adapt
from gribmill.database.postgres.error_translation import FAULTS, fault_of

Connection = psycopg.Connection[TupleRow]

# psycopg warns about pipelines that a lost connection aborts; the loss itself is already reported as an error.
logging.getLogger("psycopg").setLevel(logging.CRITICAL)

CONNECT_SECONDS = 5
SHORTEST_CONNECT_SECONDS = 2  # libpq rounds lower values up to this
DEFAULT_LEASE_SECONDS = 60.0
# A worker must notice a lost connection well within its lease.
LONGEST_SILENCE_SECONDS = 10.0
KEEPALIVES = 3
# Upper bound on the lease from which the server's keepalives are computed.
LONGEST_ABSENCE_SECONDS = 60.0
# Applied with SET, because PgBouncer rejects `options` at start-up.
LIMITS = {
    "statement_timeout": "120s",
    "lock_timeout": "10s",
    "idle_in_transaction_session_timeout": "60s",
    "TimeZone": "UTC",
    # Statements are short: JIT compilation would take a thousand times as long as running them.
    "jit": "off",
    # For the same reason: starting parallel workers takes longer than most reads.
    "max_parallel_workers_per_gather": "0",
    # Most rows are finished jobs, which are rarely needed. With outdated statistics, or for a query with LIMIT 1, the
    # planner would scan all of them.
    "enable_seqscan": "off",
    # Prepared statements look rows up by key, so a generic plan suits all values. By default the server would plan
    # every claim again, which takes longer than the claim. Reads are planned for their values (`FOR_VALUES`).
    "plan_cache_mode": "force_generic_plan",
}
FOR_VALUES = "SET LOCAL plan_cache_mode = auto"


def connection_text(dsn: str, lease_seconds: float) -> str:
    """The DSN with our defaults added."""
    given: dict[str, Any] = conninfo_to_dict(dsn)
    silence = min(LONGEST_SILENCE_SECONDS, lease_seconds / 4)
    connecting = min(CONNECT_SECONDS, max(SHORTEST_CONNECT_SECONDS, int(lease_seconds / 6)))
    network = {
        "keepalives": 1,
        "keepalives_idle": max(1, int(silence / 2)),
        "keepalives_interval": max(1, int(silence / 5)),
        "keepalives_count": KEEPALIVES,
        "tcp_user_timeout": max(1, int(silence * 1000)),
        "connect_timeout": connecting,
        "fallback_application_name": "gribmill",
    }
    if any("," in str(given.get(name)) for name in ("host", "hostaddr")):
        # With several servers, connect to the writable one. A single read-only server can still be read.
        network["target_session_attrs"] = "read-write"
    return make_conninfo(**{**network, **given})


def server_keepalives(lease_seconds: float) -> dict[str, str]:
    """Server-side keepalive settings, so that the session of a vanished host ends, and releases its locks, within half
    a lease. The server's default is two hours. Unix sockets ignore these settings."""
    absence = min(LONGEST_ABSENCE_SECONDS, lease_seconds) / 2
    idle, interval = max(1, int(absence / 3)), max(1, int(absence / 6))
    return {
        "tcp_keepalives_idle": str(idle),
        "tcp_keepalives_interval": str(interval),
        "tcp_keepalives_count": str(KEEPALIVES),
        "tcp_user_timeout": str((idle + KEEPALIVES * interval) * 1000),
    }


def shown_name(dsn: str) -> str:
    """The database's name in messages, without user and password."""
    given = conninfo_to_dict(dsn)
    host, port = given.get("host") or given.get("hostaddr") or "local", given.get("port")
    return f"postgresql://{host}{f':{port}' if port else ''}/{given.get('dbname') or ''}"


@contextmanager
def plain_faults(dsn: str) -> Iterator[None]:
    """Translate PostgreSQL's errors into errors of the queue."""
    try:
        yield
    except FAULTS as error:
        raise fault_of(error, shown_name(dsn)) from error


def connect(dsn: str, lease_seconds: float = DEFAULT_LEASE_SECONDS) -> Connection:
    """Open a connection in autocommit mode."""
    connection = psycopg.connect(connection_text(dsn, lease_seconds), autocommit=True)
    try:
        adapt(connection)
        settings = {**LIMITS, **server_keepalives(lease_seconds)}
        connection.execute("; ".join(f"SET {name} = '{value}'" for name, value in settings.items()))
        pid = connection.execute("SELECT pg_backend_pid()").fetchone()
        # A pooler assigns transactions to other backends, which lack the statements prepared on this one.
        connection.prepare_threshold = 2 if pid == (connection.info.backend_pid,) else None
    except BaseException:
        connection.close()
        raise
    return connection


def is_pooled(connection: Connection) -> bool:
    """Whether the connection goes through a pooler such as PgBouncer: no LISTEN, and settings last one transaction."""
    return connection.prepare_threshold is None


def limits_of_transaction(connection: Connection) -> str | None:
    """The statement that sets the timeouts for one transaction, for connections through a pooler."""
    if not is_pooled(connection):
        return None
    return "SELECT " + ", ".join(f"set_config('{name}', '{value}', true)" for name, value in LIMITS.items())
