"""The same millions of jobs as in `many_jobs`, in PostgreSQL."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg

from benchmarks.server.many_jobs import (
    ACTIVE,
    FINISHED,
    HOURS,
    REGIONS,
    RUNS,
    SETTINGS,
    STATUS,
    TENANTS,
    TILES,
    TYPE,
    make_files,
)
from gribmill.pipeline.open_queue import open_database, open_queue
from gribmill.settings.schema import Settings
from gribmill.storage.layout import DataRoot

# Time of job i, counted back from now: one every 0.12 s, seven days in all.
MOMENT = "now() - make_interval(secs => ({count} - i) * 0.12 - {after})"
ARGS = (
    "json_build_object('model_id', 'hrrr', 'run_id', '20261101_' || (10 + i / 600 % 14), 'hour', i / 12 % 49,"
    " 'region', 'ne')::text"
)
TENANT = f"CASE WHEN i % 10 = 3 THEN 'tenant-' || (i / 10 % {TENANTS}) ELSE 'global' END"


def fill_postgres(url: str, folder: Path, finished: int = FINISHED) -> Path:
    """Fill an empty database, and make a data root whose settings name it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "gribmill.toml").write_text(f'data = "{folder}"\ndatabase = "{url}"\n{SETTINGS}')
    settings = Settings(data=folder, database=url)
    open_database(settings, create=True).close()
    open_queue(settings).close()
    with psycopg.connect(url, autocommit=True) as connection:
        with connection.transaction():
            _fill(connection, finished)
        connection.execute("VACUUM ANALYZE")
        make_files(DataRoot(folder), connection.execute(TILES.encode()).fetchall())
    return folder


def _fill(connection: psycopg.Connection, finished: int) -> None:
    """Insert without triggers, and create indexes afterwards, which is much faster."""
    connection.execute("SET LOCAL session_replication_role = replica")
    connection.execute("SET LOCAL maintenance_work_mem = '512MB'")
    later = connection.execute(
        "SELECT indexname, indexdef FROM pg_indexes WHERE tablename IN ('jobs', 'job_attempts')"
        " AND indexname NOT IN (SELECT conname FROM pg_constraint)"
    ).fetchall()
    for name, _ in later:
        connection.execute(f"DROP INDEX {name}".encode())
    columns = [
        row[0]
        for row in connection.execute(
            "SELECT column_name FROM information_schema.columns WHERE table_name = 'tenants'"
            " AND table_schema = current_schema() AND is_generated = 'NEVER' ORDER BY ordinal_position"
        )
    ]
    for number in range(TENANTS):
        text = f"INSERT INTO tenants ({', '.join(columns)}) SELECT 'tenant-{number}', {', '.join(columns[1:])}"
        connection.execute(f"{text} FROM tenants WHERE {columns[0]} = 'global'".encode())
    connection.execute(_finished_jobs(finished).encode())
    connection.execute(
        "INSERT INTO job_attempts (job_id, attempt_no, worker_id, pid, started_at, finished_at, status, exit_code)"
        " SELECT id, 1, worker_id, 1000, started_at, completed_at, CASE status WHEN 'completed' THEN 'succeeded'"
        " WHEN 'failed' THEN 'failed' ELSE 'cancelled' END, 0 FROM jobs WHERE attempt_no = 1"
    )
    moment = MOMENT.format(count=ACTIVE, after=0)
    connection.execute(
        f"INSERT INTO jobs (type, priority, created_at, tenant_id) SELECT {TYPE}, i % 5 * 10, {moment}, {TENANT}"
        f" FROM generate_series(1, {ACTIVE}) AS n(i)".encode()
    )
    connection.execute(
        "INSERT INTO job_counts SELECT tenant_id, type, status, count(*) FROM jobs"
        " WHERE status NOT IN ('pending', 'processing') GROUP BY 1, 2, 3"
    )
    connection.execute(
        "INSERT INTO job_count_changes SELECT tenant_id, type, status, count(*) FROM jobs"
        " WHERE status IN ('pending', 'processing') AND tenant_id <> 'global' GROUP BY 1, 2, 3"
    )
    _add_runs(connection)
    for _, text in later:
        connection.execute(text.encode())


def _finished_jobs(count: int) -> str:
    created, started, ended = (MOMENT.format(count=count, after=after) for after in (0, 2, 3.5))
    columns = {
        "type": TYPE,
        "args": ARGS,
        "priority": "i % 5 * 10",
        "status": STATUS,
        "worker_id": "'host-' || (i % 8)",
        "created_at": created,
        "started_at": started,
        "completed_at": ended,
        "error_message": "CASE WHEN i % 200 = 5 THEN 'HTTP 404 at hour ' || i % 49 END",
        "dead_lettered_at": f"CASE WHEN i % 400 = 5 THEN {ended} END",
        "attempt_no": "1",
        "max_attempts": "CASE WHEN i % 200 = 5 THEN 1 ELSE 3 END",
        "tenant_id": TENANT,
        "group_key": "CASE WHEN i % 12 > 1 THEN 'hrrr/' || (i / 12) END",
        "source": "CASE WHEN i % 600 = 2 THEN 'schedule' ELSE 'system' END",
        "correlation_id": "lpad(to_hex(i / 12), 32, '0')",
    }
    return (
        f"INSERT INTO jobs ({', '.join(columns)}) SELECT {', '.join(columns.values())}"
        f" FROM generate_series(1, {count}) AS n(i)"
    )


def _add_runs(connection: psycopg.Connection) -> None:
    now = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    hours = json.dumps([*range(HOURS)])
    for model, every in (("hrrr", 1), ("gfs", 6)):
        newest = now.replace(hour=now.hour // every * every) - timedelta(hours=3)
        for number in range(RUNS):
            begin = newest - timedelta(hours=every * number)
            run, built = f"{begin:%Y%m%d_%H}", begin + timedelta(hours=2)
            connection.execute(
                "INSERT INTO runs VALUES (%s, %s, %s, 1, 'complete', %s, %s, %s)",
                (model, run, hours, built, built, built),
            )
            connection.execute(
                "INSERT INTO hours (model_id, run_id, hour, state, seen_at, mirror, bytes, regions, ingested_at,"
                " built_at) SELECT %s, %s, h, 'built', %s, %s, 1000000, %s, %s, %s FROM generate_series(0, %s) AS n(h)",
                (model, run, built, f"aws-{model}", json.dumps(REGIONS), built, built, HOURS - 1),
            )
            connection.execute(
                "INSERT INTO tiles (model_id, run_id, region, hour, bytes, built_at)"
                " SELECT %s, %s, r, h, 500000, %s FROM generate_series(0, %s) AS n(h), unnest(%s::text[]) AS m(r)",
                (model, run, built, HOURS - 1, [*REGIONS]),
            )
