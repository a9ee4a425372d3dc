"""Checks of the machine: Python, SQLite, ecCodes, the kernel, the clock, the disk."""

from __future__ import annotations

import os
import platform
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from gribmill.errors import GribmillError
from gribmill.grib.decode.eccodes import eccodes_version
from gribmill.kernel.native import state
from gribmill.pipeline.checkup.finding import Examination, Finding
from gribmill.pipeline.manage_database import database_status
from gribmill.storage.layout import SPOOL

OLDEST_PYTHON = (3, 11)
# The queue refuses older ones.
OLDEST_SQLITE = (3, 37, 0)
# A commit during the second of two checkpoints may corrupt a WAL database (sqlite.org/wal.html#walresetbug).
WAL_RESET_FIXED = (3, 51, 3)
WAL_RESET_BACKPORTS = ((3, 44, 6), (3, 50, 7))
CLOCK_TOLERANCE = timedelta(minutes=2)


def python(_: Examination) -> Iterator[Finding]:
    good = sys.version_info >= OLDEST_PYTHON
    yield Finding("Python", good, platform.python_version(), "" if good else "use Python 3.11 or later")


def database(about: Examination) -> Iterator[Finding]:
    """The database engine; for PostgreSQL, also the advice of `gribmill db status`."""
    if about.settings.database is None:
        yield check_sqlite(sqlite3.sqlite_version_info)
        return
    found = database_status(about.settings)
    yield Finding(found.engine, True, f"{found.version}, {found.bytes / 1e6:,.1f} MB at {found.place}")
    for advice in found.advice:
        problem, _, remedy = advice.rpartition(": ")
        yield Finding(found.engine, None, problem, remedy)


def check_sqlite(version: tuple[int, ...]) -> Finding:
    """Whether this SQLite version is usable, and its known bugs."""
    name = ".".join(map(str, version))
    if version < OLDEST_SQLITE:
        return Finding("SQLite", False, name, "use a Python with SQLite 3.37 or later")
    if version >= WAL_RESET_FIXED or any(fixed <= version < (*fixed[:2], 99) for fixed in WAL_RESET_BACKPORTS):
        return Finding("SQLite", True, f"{name}, no known bugs")
    detail = f"{name} has the WAL-reset bug (fixed in 3.51.3); jobs.db.lock protects gribmill's own processes from it"
    return Finding("SQLite", None, detail, "let no other program write jobs.db while workers run, or update SQLite")


def eccodes(_: Examination) -> Iterator[Finding]:
    try:
        yield Finding("ecCodes", True, eccodes_version())
    except GribmillError as error:
        yield Finding("ecCodes", False, str(error), "pip install eccodes")


def kernel(_: Examination) -> Iterator[Finding]:
    words = {
        "native": (True, "in use", ""),
        "off": (None, "switched off: tiles are built more slowly", "unset GRIBMILL_KERNEL"),
        "not built": (None, "not built: tiles are built more slowly", "install a C compiler, then gribmill again"),
    }
    good, detail, remedy = words[state()]
    yield Finding("kernel", good, detail, remedy)


def clock(about: Examination) -> Iterator[Finding]:
    """Look for records from the future: the clock is slow now, or was fast before."""
    now = datetime.now(UTC)
    moment, what = max(_newest_records(about), default=(now, ""))
    if moment > now + CLOCK_TOLERANCE:
        ahead = f"{what} is {(moment - now).total_seconds():.0f} s in the future"
        yield Finding("clock", False, ahead, "set the clock, and run NTP")
    else:
        yield Finding("clock", True, f"{now:%Y-%m-%d %H:%M:%S} UTC, not behind the newest record")


def _newest_records(about: Examination) -> Iterator[tuple[datetime, str]]:
    """The latest times recorded by workers, scans and mirrors, with a name for each."""
    for worker in about.store.workers.list():
        if worker.last_heartbeat:
            yield worker.last_heartbeat, f"the heartbeat of {worker.id}"
    for run in about.context.catalogue.runs():
        if run.first_seen_at:
            yield run.first_seen_at, f"the record of {run.ref}"
    for job in about.store.jobs.list(limit=1).jobs:
        if job.created_at:
            yield job.created_at, f"job {job.id}"
    for mirror in about.context.catalogue.mirrors().values():
        if mirror.last_success:
            yield mirror.last_success, f"the last answer of {mirror.mirror}"


def disk(about: Examination) -> Iterator[Finding]:
    root = about.root.path
    usage = shutil.disk_usage(next(place for place in (root, *root.parents) if place.exists()))
    mark = about.settings.chain.free_space_mark(usage.total)
    detail = f"{usage.free / 1e9:,.1f} GB free of {usage.total / 1e9:,.1f} GB"
    if usage.free < mark:
        remedy = "free some space, or set chain.keep_gigabytes; downloads wait until then"
        yield Finding("disk", False, f"{detail}, less than chain.min_free_gigabytes allows", remedy)
    else:
        yield Finding("disk", True, detail)


def permissions(about: Examination) -> Iterator[Finding]:
    root = about.root
    places = [root.path, root.path / SPOOL, *([root.tiles] if isinstance(root.tiles, Path) else []), root.jobs_db]
    closed = [place for place in places if place.exists() and not os.access(place, os.W_OK | os.R_OK)]
    if closed:
        names = ", ".join(str(place) for place in closed)
        yield Finding("permissions", False, f"this account cannot write {names}", "use the account of the workers")
    elif not root.path.exists():
        yield Finding("permissions", None, f"{root} did not exist", "check that it is the data root that you meant")
    else:
        yield Finding("permissions", True, f"{root} can be written")
