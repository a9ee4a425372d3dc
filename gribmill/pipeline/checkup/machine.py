"""Checks of the machine: Python, SQLite, ecCodes, the kernel, the clock, the disk."""

from __future__ import annotations

import os
import platform
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from gribmill.errors import GribmillError
from gribmill.grib.decode.eccodes import eccodes_version
from gribmill.kernel.native import state
from gribmill.pipeline.checkup.finding import Examination, Finding
from gribmill.pipeline.free_space import free_space_mark
from gribmill.storage.layout import SPOOL

OLDEST_PYTHON = (3, 11)
# STRICT tables, RETURNING and json_each over text, which the queue and the catalogue use.
OLDEST_SQLITE = (3, 38, 0)
CLOCK_TOLERANCE = timedelta(minutes=2)


def python(_: Examination) -> Iterator[Finding]:
    good = sys.version_info >= OLDEST_PYTHON
    yield Finding("Python", good, platform.python_version(), "" if good else "use Python 3.11 or later")


def sqlite(_: Examination) -> Iterator[Finding]:
    good = sqlite3.sqlite_version_info >= OLDEST_SQLITE
    yield Finding("SQLite", good, sqlite3.sqlite_version, "" if good else "use a Python with SQLite 3.38 or later")


def eccodes(_: Examination) -> Iterator[Finding]:
    try:
        yield Finding("ecCodes", True, eccodes_version())
    except GribmillError as error:
        yield Finding("ecCodes", False, str(error), "pip install eccodes")


def kernel(_: Examination) -> Iterator[Finding]:
    words = {
        "native": (True, "in use", ""),
        "off": (None, "switched off: tiles are built more slowly", "unset GRIBMILL_KERNEL"),
        "not built": (None, "not built: tiles are built more slowly", "install again with a C compiler at hand"),
    }
    good, detail, remedy = words[state()]
    yield Finding("kernel", good, detail, remedy)


def clock(about: Examination) -> Iterator[Finding]:
    """Heartbeats and runs from the future: the clock is behind now, or was ahead before."""
    now = datetime.now(UTC)
    beats = [one.last_heartbeat for one in about.store.workers.list() if one.last_heartbeat]
    newest = max(beats, default=now)
    if newest > now + CLOCK_TOLERANCE:
        ahead = f"the newest heartbeat is {(newest - now).total_seconds():.0f} s in the future"
        yield Finding("clock", False, ahead, "set the clock, and run NTP")
    else:
        yield Finding("clock", True, f"{now:%Y-%m-%d %H:%M:%S} UTC, not behind any heartbeat")


def disk(about: Examination) -> Iterator[Finding]:
    root = about.context.root.path
    usage = shutil.disk_usage(next(place for place in (root, *root.parents) if place.exists()))
    mark = free_space_mark(about.context.settings, usage.total)
    detail = f"{usage.free / 1e9:,.1f} GB free of {usage.total / 1e9:,.1f} GB"
    if usage.free < mark:
        remedy = "free some space, or set chain.keep_gigabytes; downloads wait until then"
        yield Finding("disk", False, f"{detail}, less than chain.min_free_gigabytes allows", remedy)
    else:
        yield Finding("disk", True, detail)


def permissions(about: Examination) -> Iterator[Finding]:
    root = about.context.root
    places = [root.path, root.path / SPOOL, root.tiles, root.jobs_db]
    closed = [place for place in places if place.exists() and not os.access(place, os.W_OK | os.R_OK)]
    if closed:
        names = ", ".join(str(place) for place in closed)
        yield Finding("permissions", False, f"this account cannot write {names}", "use the account of the workers")
    else:
        yield Finding("permissions", True, f"{root} can be written")
