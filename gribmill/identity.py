"""A run's name, YYYYMMDD_HH, and its time."""

from __future__ import annotations

import contextlib
import re
from datetime import UTC, datetime

from gribmill.ingest.errors import IngestError

# Years have four digits in every key; and nobody forecasts earlier ones.
FIRST_YEAR = 1000
_RUN_ID = re.compile(r"([0-9]{8})_([0-9]{2})")


def run_time(run_id: str) -> datetime:
    """`20230125_12` as an aware UTC time; anything else is an IngestError."""
    found = _RUN_ID.fullmatch(run_id)
    with contextlib.suppress(ValueError):
        moment = datetime.strptime(found[1] + found[2], "%Y%m%d%H").replace(tzinfo=UTC) if found else None
        if moment and moment.year >= FIRST_YEAR:
            return moment
    raise IngestError(f"{run_id!r} is no run: a run is YYYYMMDD_HH, such as 20230125_12")


def run_id(run: datetime) -> str:
    """The name of the run that began at `run` (a whole hour in UTC)."""
    return f"{whole_hour(run):%Y%m%d_%H}"


def whole_hour(run: datetime) -> datetime:
    """The same time in UTC; an IngestError unless it is aware and a whole hour."""
    if run.tzinfo is None:
        raise IngestError(f"the run {run} has no time zone; runs are in UTC")
    moment = run.astimezone(UTC)
    if moment.year < FIRST_YEAR:
        raise IngestError(f"no run begins in the year {moment.year}")
    if (moment.minute, moment.second, moment.microsecond) != (0, 0, 0):
        raise IngestError(f"no run begins at {moment.isoformat()}: runs begin on the hour")
    return moment
