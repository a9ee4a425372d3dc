"""The keys of one field: parameter, level, times and ensemble member, as stated or implied by its message."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from gribmill.grib.product.mars import MarsLabels
from gribmill.grib.product.statistic import Statistic

# Temperature, relative and absolute humidity, wind speed; temperature in the tables of GRIB1.
COMMON: dict[Parameter, Statistic] = {
    (0, 0, 4): "max", (0, 0, 5): "min", (0, 1, 27): "max", (0, 1, 28): "max", (0, 2, 21): "max",
    **{(table, 15): "max" for table in (1, 2, 3)}, **{(table, 16): "min" for table in (1, 2, 3)},
}  # fmt: skip
# Humidity, updrafts and downdrafts, wind, updraft helicity, reflectivity.
NCEP_OWN: dict[Parameter, Statistic] = {
    (0, 1, 198): "min", (0, 1, 219): "max", (0, 1, 220): "min", (0, 2, 220): "max", (0, 2, 221): "max",
    (0, 2, 222): "max", (0, 2, 223): "max", (0, 7, 199): "max", (0, 7, 200): "min", (0, 16, 198): "max",
}  # fmt: skip
# Gusts, temperatures and rates of precipitation, in GRIB1.
ECMWF_OWN: dict[Parameter, Statistic] = {
    **{(128, number): "max" for number in (49, 51, 121, 123, 201)},
    **{(128, number): "min" for number in (52, 122, 202)},
    **{(228, number): "max" for number in (26, 28, 222, 224, 226)},
    **{(228, number): "min" for number in (27, 223, 225, 227)},
}


def implied_statistic(centre: int, parameter: Parameter) -> Statistic:
    """The statistic that the parameter implies; `other` where it implies none."""
    own = NCEP_OWN if centre in NOAA else ECMWF_OWN if centre == ECMWF else {}
    return COMMON.get(parameter) or own.get(parameter, "other")


# GRIB2: discipline, category, number. GRIB1: table, number.
Parameter = tuple[int, ...]

OfMany = Literal["mean", "sum", "sd", "variance"]

NCEP = 7
ECMWF = 98
# The generating processes of ECMWF that are versions of AIFS.
AIFS_PROCESSES = range(1, 30)
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
    # The start that the message states, where it is known to be wrong.
    stated_start: timedelta | None = None
    statistic: Statistic = "instant"
    member: int | None = None
    members: int | None = None
    derived: int | None = None
    probability: Probability | None = None
    percentile: int | None = None
    # Octets that select a part of the quantity (a wave period range, a chemical constituent).
    selector: bytes = b""
    subcentre: int | None = None
    # The kind of member (code table 4.6), where stated.
    member_kind: int | None = None
    # ECMWF's labels, where the message has them.
    mars: MarsLabels | None = None
    # A statistic of many analyses or forecasts, such as a monthly mean.
    of_many: OfMany | None = None

    @property
    def valid(self) -> datetime | None:
        """The valid time: the end of the time range. None where the message does not state it, or beyond all dates."""
        try:
            return None if self.end is None else self.reference + self.end
        except OverflowError:
            return None

    @property
    def ensemble_member(self) -> int | None:
        """The number of the member, 0 for a control; None outside of ensembles."""
        # ECMWF's GRIB1 has member 0 of 0 there; GRIB2 has other templates.
        return None if (self.edition, self.member, self.members) == (1, 0, 0) else self.member

    @property
    def ensemble_mean(self) -> bool:
        """Whether it is a mean of an ensemble, of any weights (code table 4.7)."""
        return self.derived in MEANS

    @property
    def window_minutes(self) -> int:
        """The length of the time range, rounded down; 0 for an instant, or where the message does not state it."""
        if self.start is None or self.end is None:
            return 0
        return max(0, int((self.end - self.start).total_seconds() // 60))

    @property
    def spread(self) -> bool:
        """Whether it is a spread of an ensemble (code table 4.7) instead of the quantity itself."""
        return self.derived in SPREADS


# Unweighted, weighted by skill, of a cluster.
MEANS = frozenset({0, 1, 6})
# Standard deviation, normalised standard deviation, spread, large anomaly index, interquartile range.
SPREADS = frozenset({2, 3, 4, 5, 7})


def with_true_range(keys: Keys) -> Keys:
    """The same, but ECMWF's sums begin where they do, whatever time range is stated: with the run.

    AIFS states the last step, or an empty time range, for sums since the run began. In other forecasts of ECMWF only an
    empty one is wrong.
    """
    start, end, labels = keys.start, keys.end, keys.mars
    if keys.centre != ECMWF or keys.statistic != "accum" or start is None or end is None or start <= timedelta(0):
        return keys
    if labels is None:
        wrong = start == end or keys.process in AIFS_PROCESSES
    else:
        wrong = labels.mars_class == "ai" or (start == end and labels.mars_class == "od")
    return replace(keys, start=timedelta(0), stated_start=start) if wrong else keys
