"""The names of models, runs, forecast hours, regions and tiles: one pattern and one parser each.

All names in paths, rows and job arguments are validated here, so that no path can leave the data root.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from gribmill.errors import GribmillError

_NAME = r"[a-z0-9][a-z0-9_-]{0,39}"
# hrrr; gefs.p01 is member 1 of GEFS; gfs-g2 holds the fields of a file that are on a second grid.
MODEL_ID: Final = re.compile(_NAME + r"(\.[a-z0-9]{1,8})?(-g[0-9]{1,3})?")
FAMILY_NAME: Final = re.compile(_NAME)
REGION_NAME: Final = re.compile(_NAME)
# 20230125_12. Minutes follow only where a run does not start on the hour, as in files that others made.
RUN_ID: Final = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})_([0-9]{2})([0-9]{2})?")
# The longest forecasts published run to 840 h (GEFS); a year leaves room and catches nonsense.
HOUR_LIMIT: Final = 8784
# Publishers write years with four digits, and no forecast is older.
FIRST_PUBLISHED_YEAR: Final = 1000


class IdentityError(GribmillError, ValueError):
    """The name of a model, run, hour or region is not valid. Also a ValueError, for pydantic's validators."""


def run_id(moment: datetime) -> str:
    """The id of the run that started at this time: `YYYYMMDD_HH` in UTC, with minutes if not on the hour."""
    begin = _in_utc(moment)
    # strftime's %Y has fewer than four digits before the year 1000.
    return f"{begin.year:04d}{begin:%m%d_%H}" + (f"{begin:%M}" if begin.minute else "")


def run_time(run: str) -> datetime:
    """Parses `20230125_12` to an aware UTC time."""
    if not (found := RUN_ID.fullmatch(run)):
        raise _not_a_run(run)
    year, month, day, hour, minute = (int(part or 0) for part in found.groups())
    try:
        return datetime(year, month, day, hour, minute, tzinfo=UTC)
    except ValueError:  # the calendar has no such day
        raise _not_a_run(run) from None


def whole_hour(run: datetime) -> datetime:
    """The time in UTC. Raises IdentityError unless a published run can start then: on the hour, and not too early."""
    moment = _in_utc(run)
    if moment.year < FIRST_PUBLISHED_YEAR:
        raise IdentityError(f"no run begins in the year {moment.year}")
    if (moment.minute, moment.second, moment.microsecond) != (0, 0, 0):
        raise IdentityError(f"no run begins at {moment.isoformat()}: runs begin on the hour")
    return moment


def whole_run(run: str) -> str:
    """The same run id. Raises IdentityError unless a published run can start then."""
    whole_hour(run_time(run))
    return run


def check_run_id(run: str) -> str:
    """The same run id, if its form is valid. Only `run_time` detects dates that do not exist."""
    if not RUN_ID.fullmatch(run):
        raise _not_a_run(run)
    return run


def _not_a_run(run: str) -> IdentityError:
    return IdentityError(f"{run!r} is not a run: use YYYYMMDD_HH, such as 20230125_12")


def check_hour(hour: int) -> int:
    """The same forecast hour, if it is valid."""
    if not 0 <= hour <= HOUR_LIMIT:
        raise IdentityError(f"{hour} is not a forecast hour: use 0 to {HOUR_LIMIT}")
    return hour


def check_model_id(model: str) -> str:
    """The same model id, if it is valid: a family (hrrr) or one of its members (gefs.p01)."""
    if not MODEL_ID.fullmatch(model):
        raise IdentityError(f"{model!r} is not a model name: use up to 40 of a-z, 0-9, _ and -, not _ or - first")
    return model


def check_family_name(family: str) -> str:
    """The same family name, if it is valid."""
    if not FAMILY_NAME.fullmatch(family):
        raise IdentityError(f"{family!r} is not a model name: use up to 40 of a-z, 0-9, _ and -, not _ or - first")
    return family


def check_region_name(region: str) -> str:
    """The same region name, if it is valid."""
    if not REGION_NAME.fullmatch(region):
        raise IdentityError(f"{region!r} is not a region name: use up to 40 of a-z, 0-9, _ and -, not _ or - first")
    return region


@dataclass(frozen=True, slots=True)
class RunRef:
    """One run of a model."""

    model_id: str
    run_id: str

    def __post_init__(self) -> None:
        check_model_id(self.model_id)
        check_run_id(self.run_id)

    def __str__(self) -> str:
        return f"{self.model_id}/{self.run_id}"

    @property
    def time(self) -> datetime:
        """When the run began."""
        return run_time(self.run_id)

    def hour(self, hour: int) -> HourRef:
        return HourRef(self.model_id, self.run_id, hour)


@dataclass(frozen=True, slots=True)
class HourRef:
    """One forecast hour of a run: one file of its publisher, and one tile per region."""

    model_id: str
    run_id: str
    hour: int

    def __post_init__(self) -> None:
        check_model_id(self.model_id)
        check_run_id(self.run_id)
        check_hour(self.hour)

    def __str__(self) -> str:
        """Zero-padded, so that texts sort by hour."""
        return f"{self.model_id}/{self.run_id}/{self.hour:03d}"

    @property
    def run(self) -> RunRef:
        return RunRef(self.model_id, self.run_id)

    def tile(self, region: str) -> TileRef:
        return TileRef(self.model_id, self.run_id, self.hour, region)


@dataclass(frozen=True, slots=True)
class TileRef:
    """The tile of one region at one forecast hour of a run."""

    model_id: str
    run_id: str
    hour: int
    region: str

    def __post_init__(self) -> None:
        check_model_id(self.model_id)
        check_run_id(self.run_id)
        check_hour(self.hour)
        check_region_name(self.region)

    def __str__(self) -> str:
        return f"{self.model_id}/{self.run_id}/{self.region}/{self.hour:03d}"

    @property
    def hour_ref(self) -> HourRef:
        return HourRef(self.model_id, self.run_id, self.hour)


def _in_utc(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise IdentityError(f"the run {moment} has no time zone; runs are in UTC")
    return moment.astimezone(UTC)
