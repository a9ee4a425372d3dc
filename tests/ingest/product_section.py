"""Section 4 of GRIB2 octet by octet: product definition templates 4.0, 4.1, 4.8 and 4.11."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from gribmill.sandbox.grib_writer.sections import section

FORECAST, HOUR, ACCUMULATION, SAME_START, NOT_SET = 2, 1, 1, 2, 255
PERTURBED, ENSEMBLE_SIZE = 3, 50
# By member and interval: plain, over an interval, a member's, a member's over an interval.
TEMPLATES = {(False, False): 0, (False, True): 8, (True, False): 1, (True, True): 11}


@dataclass(frozen=True, slots=True)
class Accumulation:
    """An accumulation over `hours`; `ends` is the end of the overall time interval."""

    hours: int
    ends: datetime


def product_section(
    category: int,
    number: int,
    surface: tuple[int, int],
    hour: int,
    accumulation: Accumulation | None = None,
    member: int | None = None,
) -> bytes:
    """A parameter on a fixed surface (kind and value) at a forecast hour, or accumulated from that hour on."""
    template = TEMPLATES[member is not None, accumulation is not None]
    kind, value = surface
    body = bytes(2) + template.to_bytes(2, "big")
    body += bytes([category, number, FORECAST, 0, 0, 0, 0, 0, HOUR]) + hour.to_bytes(4, "big")
    body += bytes([kind, 0]) + value.to_bytes(4, "big") + b"\xff" * 6
    if member is not None:
        body += bytes([PERTURBED, member, ENSEMBLE_SIZE])
    if accumulation is not None:
        body += time_octets(accumulation.ends) + bytes([1, 0, 0, 0, 0, ACCUMULATION, SAME_START, HOUR])
        body += accumulation.hours.to_bytes(4, "big") + bytes([NOT_SET]) + bytes(4)
    return section(4, body)


def time_octets(time: datetime) -> bytes:
    """Year, month, day, hour, minute, second."""
    return time.year.to_bytes(2, "big") + bytes([time.month, time.day, time.hour, time.minute, time.second])
