"""A data root whose queue has millions of finished jobs and thousands of active ones, and a week of runs."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.environment import SCRATCH
from gribmill.identity import RunRef
from gribmill.pipeline.open_queue import open_queue
from gribmill.settings.schema import Settings
from gribmill.storage.latest import KnownRuns, LatestRuns, publish_latest
from gribmill.storage.layout import DataRoot

FINISHED, ACTIVE = 5_000_000, 3_000
TENANTS = 20
RUNS, HOURS, REGIONS = 28, 49, ("conus", "ne")
TILE_BYTES = 500_000
VERSION = 4
TILES = "SELECT model_id, run_id, hour, region FROM tiles"
SETTINGS = '[chain]\nmodels = ["hrrr", "gfs"]\nregions = ["conus", "ne"]\n'
# Time of job i, counted back from now: one every 0.12 s, seven days in all.
MOMENT = "strftime('%Y-%m-%d %H:%M:%f', {now} - ({count} - i) * 0.12 + {after}, 'unixepoch')"
TYPE = (
    "CASE WHEN i % 12 = 0 THEN 'ingest_grib' WHEN i % 12 = 1 THEN 'publish' WHEN i % 600 = 2 THEN 'scan_source'"
    " ELSE 'build_tile' END"
)
ARGS = (
    "json_object('model_id', 'hrrr', 'run_id', '20261101_' || (10 + i / 600 % 14), 'hour', i / 12 % 49, 'region', 'ne')"
)
TENANT = f"CASE WHEN i % 10 = 3 THEN 'tenant-' || (i / 10 % {TENANTS}) ELSE 'global' END"
STATUS = "CASE WHEN i % 200 = 5 THEN 'failed' WHEN i % 400 = 7 THEN 'cancelled' ELSE 'completed' END"


def many_jobs(finished: int = FINISHED) -> Path:
    """The data root, made once. Rows are inserted in one statement, without the trigger that counts them one by one."""
    folder = SCRATCH / f"many-jobs-{VERSION}-{finished}"
    if (folder / "ready").is_file():
        return folder
    sys.stderr.write(f"making {finished} finished jobs …\n")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "gribmill.toml").write_text(f'data = "{folder}"\n{SETTINGS}')
    open_queue(Settings(data=folder)).close()
    with closing(sqlite3.connect(folder / "jobs.db", isolation_level=None)) as connection:
        _fill(connection, finished)
    open_queue(Settings(data=folder)).close()
    with closing(sqlite3.connect(folder / "jobs.db")) as connection:
        make_files(DataRoot(folder), connection.execute(TILES).fetchall())
    (folder / "ready").touch()
    return folder


def _fill(connection: sqlite3.Connection, finished: int) -> None:
    """Indexes and the trigger that counts arrivals are created after the rows, which is much faster."""
    connection.executescript(
        "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-400000; PRAGMA temp_store=MEMORY;"
    )
    later = connection.execute(
        "SELECT type, name, sql FROM sqlite_master WHERE tbl_name = 'jobs' AND type = 'index' AND sql IS NOT NULL"
        " OR name = 'jobs_arrived'"
    ).fetchall()
    for kind, name, _ in later:
        connection.execute(f"DROP {kind} {name}")
    connection.execute("BEGIN")
    _add_tenants(connection)
    connection.execute(_finished_jobs(finished))
    connection.execute(
        "INSERT INTO job_attempts (job_id, attempt_no, worker_id, pid, started_at, finished_at, status, exit_code)"
        " SELECT id, 1, worker_id, 1000, started_at, completed_at, CASE status WHEN 'completed' THEN 'succeeded'"
        " WHEN 'failed' THEN 'failed' ELSE 'cancelled' END, 0 FROM jobs WHERE attempt_no = 1"
    )
    connection.execute(_active_jobs())
    connection.execute(
        "INSERT INTO job_counts SELECT tenant_id, type, status, count(*) FROM jobs"
        " WHERE tenant_id <> 'global' OR status NOT IN ('pending','processing') GROUP BY 1, 2, 3"
    )
    _add_runs(connection)
    for _, _, text in later:
        connection.execute(text)
    connection.execute("COMMIT")
    connection.execute("PRAGMA journal_mode=WAL")


def _add_tenants(connection: sqlite3.Connection) -> None:
    """As the store writes them: copies of `global` with other names."""
    columns = [row[1] for row in connection.execute("PRAGMA table_info(tenants)")]
    others = ", ".join(columns[1:])
    for number in range(TENANTS):
        connection.execute(
            f"INSERT INTO tenants SELECT 'tenant-{number}', {others} FROM tenants WHERE {columns[0]} = 'global'"
        )


def _finished_jobs(count: int) -> str:
    now = time.time()
    created, started, ended = (MOMENT.format(now=now, count=count, after=after) for after in (0, 2, 3.5))
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
        "correlation_id": "printf('%032x', i / 12)",
    }
    return (
        f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})"
        f" INSERT INTO jobs ({', '.join(columns)}) SELECT {', '.join(columns.values())} FROM n"
    )


def _active_jobs() -> str:
    moment = MOMENT.format(now=time.time(), count=ACTIVE, after=0)
    return (
        f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {ACTIVE})"
        f" INSERT INTO jobs (type, priority, created_at, tenant_id)"
        f" SELECT {TYPE}, i % 5 * 10, {moment}, {TENANT} FROM n"
    )


def _add_runs(connection: sqlite3.Connection) -> None:
    now = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    hours = json.dumps([*range(HOURS)])
    for model, every in (("hrrr", 1), ("gfs", 6)):
        newest = now.replace(hour=now.hour // every * every) - timedelta(hours=3)
        for number in range(RUNS):
            begin = newest - timedelta(hours=every * number)
            run, built = f"{begin:%Y%m%d_%H}", f"{begin + timedelta(hours=2):%Y-%m-%d %H:%M:%S.000}"
            connection.execute(
                "INSERT INTO runs VALUES (?, ?, ?, 1, 'complete', ?, ?, ?)", (model, run, hours, built, built, built)
            )
            for hour in range(HOURS):
                connection.execute(
                    "INSERT INTO hours (model_id, run_id, hour, state, seen_at, mirror, bytes, regions, ingested_at,"
                    " built_at) VALUES (?, ?, ?, 'built', ?, ?, 1000000, ?, ?, ?)",
                    (model, run, hour, built, f"aws-{model}", json.dumps(REGIONS), built, built),
                )
                connection.executemany(
                    "INSERT INTO tiles (model_id, run_id, region, hour, bytes, built_at) VALUES (?, ?, ?, ?, ?, ?)",
                    [(model, run, region, hour, TILE_BYTES, built) for region in REGIONS],
                )


def make_files(root: DataRoot, tiles: Sequence[tuple[str, str, int, str]]) -> None:
    """Empty files of the recorded size, which take no space on disk, for the rows of `TILES`."""
    for model, run, hour, region in tiles:
        path = root.tile(RunRef(model, run).hour(hour).tile(region))
        assert isinstance(path, Path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        os.truncate(path, TILE_BYTES)
    for model in {model for model, *_ in tiles}:
        newest = max(run for name, run, *_ in tiles if name == model)
        known = KnownRuns({region: LatestRuns(newest, newest) for region in REGIONS}, hours={newest: HOURS})
        publish_latest(root, model, lambda known=known: known)  # type: ignore[misc]
