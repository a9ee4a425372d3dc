"""The keys of one field: parameter, level, times and ensemble member, as its message states them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from gribmill.grib.product.statistic import Statistic

# GRIB2: discipline, category, number. GRIB1: table, number.
Parameter = tuple[int, ...]

NCEP = 7
ECMWF = 98
# Other offices of the National Weather Service and NOAA's laboratories use NCEP's local numbers.
NOAA = frozenset({NCEP, 8, 9, 59, 161})


@dataclass(frozen=True, slots=True)
class Level:
    """A fixed surface: its kind in code table 4.5 (GRIB1 kinds are translated) and its value, in SI units."""

    kind: int
    value: float | None = None


@dataclass(frozen=True, slots=True)
class Probability:
    """The probability of a value below, above or between the limits (code table 4.9)."""

    kind: int
    lower: float | None
    upper: float | None


@dataclass(frozen=True, slots=True)
class Keys:
    """The facts of one field."""

    edition: int
    centre: int
    process: int | None
    parameter: Parameter
    template: int | None
    reference: datetime
    level: Level | None = None
    level2: Level | None = None
    start: timedelta | None = None
    end: timedelta | None = None
    statistic: Statistic = "instant"
    member: int | None = None
    members: int | None = None
    derived: int | None = None
    probability: Probability | None = None
    percentile: int | None = None
    # Octets that select a part of the quantity (a wave period range, a chemical constituent).
    selector: bytes = b""

    @property
    def valid(self) -> datetime | None:
        """The valid time: the end of the time range. None where the message does not state it, or beyond all dates."""
        try:
            return None if self.end is None else self.reference + self.end
        except OverflowError:
            return None

    @property
    def spread(self) -> bool:
        """Whether it is a spread of an ensemble (code table 4.7) instead of the quantity itself."""
        return self.derived in SPREADS


# Standard deviation, normalised standard deviation, spread, large anomaly index, interquartile range.
SPREADS = frozenset({2, 3, 4, 5, 7})
