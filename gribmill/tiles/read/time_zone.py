"""Time zones by name, for tables and days in local time."""

from __future__ import annotations

import os
from datetime import UTC, tzinfo
from functools import cache
from pathlib import Path

from gribmill.tiles.errors import TileError

LOCAL = "local"
LOCAL_FILE = Path("/etc/localtime")


def time_zone(name: str | tzinfo | None) -> tzinfo:
    """The time zone with an IANA name such as America/New_York, or of this machine (`local`); UTC by default."""
    if isinstance(name, tzinfo):
        return name
    if name is None:
        return UTC
    if name == LOCAL:
        return _machine_zone()
    zone = find_zone(name)
    if zone is None:
        raise _unknown_zone(name)
    return zone


def find_zone(name: str) -> tzinfo | None:
    """The time zone with an IANA name; None if there is none."""
    if name.upper() in ("UTC", "Z"):
        return UTC
    # Imported late: loading time zones is slow, and most calls use UTC.
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # unknown, outside the database, or one of its folders
        return None


def zone_name(zone: tzinfo) -> str:
    """`America/New_York`, `UTC`."""
    return getattr(zone, "key", None) or str(zone)


def _unknown_zone(name: str) -> TileError:
    known = _all_zones()
    wanted = name.replace(" ", "_").lower()
    cities = {each.rsplit("/", 1)[-1]: each for each in known}
    import difflib  # only needed for mistakes

    near = difflib.get_close_matches(wanted, known, n=3) or difflib.get_close_matches(wanted, cities, n=3, cutoff=0.8)
    hint = ", ".join(known[cities.get(each, each)] for each in near)
    return TileError(
        f"there is no time zone {name[:60]!r}"
        + (f"; did you mean {hint}?" if hint else ": use a name such as America/New_York, UTC, or local")
    )


@cache
def _all_zones() -> dict[str, str]:
    """All names by their lower case. Listing them takes 15 ms."""
    from zoneinfo import available_timezones

    return {each.lower(): each for each in available_timezones()}


def _machine_zone() -> tzinfo:
    """TZ as interpreted by the C library, else /etc/localtime, else UTC."""
    from zoneinfo import ZoneInfo

    named = os.environ.get("TZ", "").removeprefix(":")
    if named and not named.startswith("/"):
        return time_zone(named)
    path = Path(named) if named else LOCAL_FILE
    if not path.exists():
        return UTC
    _, found, key = str(path.resolve()).partition("zoneinfo/")
    try:
        with path.open("rb") as file:
            return ZoneInfo.from_file(file, key=key if found else LOCAL)
    except (OSError, ValueError) as error:
        raise TileError(f"the time zone of this machine cannot be read from {path}: {error}") from None
