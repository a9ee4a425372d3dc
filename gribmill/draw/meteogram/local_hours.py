"""Hours and midnights of a time zone, for the time axis of a meteogram."""

from __future__ import annotations

import math
from datetime import datetime, tzinfo

# Every offset from UTC is a multiple of this.
QUARTER = 900


def local_hours(start: float, end: float, every: int, zone: tzinfo) -> list[tuple[float, datetime]]:
    """Every so many hours of the local day between two moments (seconds since 1970), with the local time."""
    first = math.ceil(start / QUARTER) * QUARTER
    moments = ((float(second), datetime.fromtimestamp(second, zone)) for second in range(first, int(end) + 1, QUARTER))
    return [(second, local) for second, local in moments if local.minute == 0 and local.hour % every == 0]


def zone_label(moments: list[datetime]) -> str:
    """`UTC`, `EST`, or `EDT/EST` where clocks change."""
    return "/".join(dict.fromkeys(moment.tzname() or "" for moment in moments))
