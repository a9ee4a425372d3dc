"""The times of a response: its days, hours and quarters of an hour, as the query asks for them in its time zone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from gribmill.server.openmeteo.errors import OpenMeteoError
from gribmill.server.openmeteo.given import Given
from gribmill.tiles.read.time_zone import find_zone, zone_name

MOST_PAST_DAYS, MOST_FORECAST_DAYS = 92, 16
DEFAULT_DAYS, DEFAULT_QUARTER_DAYS = 7, 3
DAY, HOUR, QUARTER = 86400, 3600, 900
# These name a range; the others count from now. A query has one or the other.
RANGES = ("start_date", "end_date", "start_hour", "end_hour", "start_minutely_15", "end_minutely_15")
COUNTS = ("past_days", "forecast_days", "past_hours", "forecast_hours", "past_minutely_15", "forecast_minutely_15")
PERIOD_KEYS = frozenset(RANGES + COUNTS)
# A local time, inclusive, and an end, exclusive.
LocalRange = tuple[datetime, datetime]


@dataclass(frozen=True, slots=True)
class Period:
    """The times of each section in seconds since 1970, and the zone's UTC offset."""

    days: range
    hours: range
    quarters: range
    offset: int
    zone: str
    abbreviation: str


def period(given: Given, name: str, now: datetime) -> Period:
    """The times in this time zone; raises OpenMeteoError if the query names none."""
    zone, shown, abbreviation = _zone(name, now)
    local = now.astimezone(zone)
    offset = int((local.utcoffset() or timedelta()).total_seconds())
    local = local.replace(tzinfo=None)
    days, hours, quarters = (_named if any(map(given.texts, RANGES)) else _counted)(given, local)
    for begin, end in (days, hours, quarters):
        if (end - begin).days > MOST_PAST_DAYS + MOST_FORECAST_DAYS:
            raise OpenMeteoError(f"A time range has at most {MOST_PAST_DAYS + MOST_FORECAST_DAYS} days")
    return Period(
        _times(days, offset, DAY, 1),
        # On whole hours in UTC, even in time zones with a half-hour offset.
        _times(hours, offset, HOUR, HOUR),
        _times(quarters, offset, QUARTER, QUARTER),
        offset,
        shown,
        abbreviation,
    )


def _times(local: LocalRange, offset: int, step: int, unit: int) -> range:
    """Every `step` seconds, from the next multiple of `unit`."""
    first, last = (int(moment.replace(tzinfo=UTC).timestamp()) - offset for moment in local)
    return range(-(-first // unit) * unit, -(-last // unit) * unit, step)


def _zone(name: str, now: datetime) -> tuple[tzinfo, str, str]:
    if name.upper() in ("GMT", "UTC"):
        return UTC, name.upper(), name.upper()
    zone = find_zone(name)
    if zone is None:
        raise OpenMeteoError("Invalid timezone")
    return zone, zone_name(zone), now.astimezone(zone).tzname() or zone_name(zone)


def _named(given: Given, _: datetime) -> tuple[LocalRange, LocalRange, LocalRange]:
    """Days, hours and quarters between given dates and times. Those that are not given are those of the others."""
    if clash := next((key for key in COUNTS if given.integer(key, 10**6)), None):
        raise OpenMeteoError(f"Parameter '{clash}' is mutually exclusive with 'start_date' and 'end_date'")
    days = _range(given, "start_date", "end_date", timedelta(days=1))
    quarters = _range(given, "start_minutely_15", "end_minutely_15", timedelta(minutes=15))
    hours = _range(given, "start_hour", "end_hour", timedelta(hours=1)) or days or quarters
    assert hours is not None  # the caller has seen one of them
    return days or _days_of(hours), hours, quarters or hours


def _range(given: Given, start_key: str, end_key: str, step: timedelta) -> LocalRange | None:
    """From the first to the end of the last step; None if the query has neither."""
    if not given.texts(start_key) and not given.texts(end_key):
        return None
    begin, last = (_moment(given, key, step) for key in (start_key, end_key))
    if last < begin:
        raise OpenMeteoError("The end of the time range is before its beginning")
    return begin, last + step


def _days_of(hours: LocalRange) -> LocalRange:
    begin, end = hours
    last = end - timedelta(seconds=1)
    return datetime.combine(begin, time()), datetime.combine(last, time()) + timedelta(days=1)


def _counted(given: Given, local: datetime) -> tuple[LocalRange, LocalRange, LocalRange]:
    """Days around today, hours around this one, and quarters of an hour around this one."""
    this_hour = local.replace(minute=0, second=0, microsecond=0)
    this_quarter = this_hour + timedelta(minutes=local.minute // 15 * 15)
    past = given.integer("past_days", MOST_PAST_DAYS) or 0
    ahead = given.integer("forecast_days", MOST_FORECAST_DAYS)
    today = this_hour.replace(hour=0)
    begin = today - timedelta(days=past)

    def days(default: int) -> LocalRange:
        return begin, today + timedelta(days=default if ahead is None else ahead)

    hours = _around(given, this_hour, timedelta(hours=1), "hours", days(DEFAULT_DAYS))
    quarters = _around(given, this_quarter, timedelta(minutes=15), "minutely_15", days(DEFAULT_QUARTER_DAYS))
    return days(DEFAULT_DAYS), hours, quarters


def _around(given: Given, now: datetime, step: timedelta, unit: str, days: LocalRange) -> LocalRange:
    """So many steps before and after the current one; the whole days if the query counts none."""
    a_day = timedelta(days=1) // step
    before = given.integer(f"past_{unit}", a_day * MOST_PAST_DAYS)
    after = given.integer(f"forecast_{unit}", a_day * MOST_FORECAST_DAYS)
    if before is None and after is None:
        return days
    return now - (before or 0) * step, days[1] if after is None else now + after * step


def _moment(given: Given, key: str, step: timedelta) -> datetime:
    return datetime.combine(_day(given, key), time()) if step == timedelta(days=1) else _time(given, key, step)


def _time(given: Given, key: str, step: timedelta) -> datetime:
    try:
        found = datetime.fromisoformat(given.one(key, ""))
    except ValueError:
        found = None
    if found is None or found.tzinfo is not None or not 1900 < found.year < 2200:
        raise OpenMeteoError(f"Parameter '{key}' must be a time such as 2026-11-18T06:00, in the time zone")
    minutes = step // timedelta(minutes=1)
    return found.replace(minute=found.minute // minutes * minutes, second=0, microsecond=0)


def _day(given: Given, key: str) -> date:
    try:
        found = date.fromisoformat(given.one(key, ""))
    except ValueError:
        found = None
    if found is None or not 1900 < found.year < 2200:
        raise OpenMeteoError(f"Invalid date format. Make sure to use 'YYYY-MM-DD' for '{key}'")
    return found
