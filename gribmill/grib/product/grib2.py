"""Reads section 4 of a GRIB2 message, according to its product definition template.

A template is described by what it adds to template 4.0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal

from gribmill.grib.errors import GribError
from gribmill.grib.product.keys import (
    ECMWF,
    MONTHLY_MEANS,
    UNIT_SECONDS,
    Keys,
    Level,
    Probability,
    Statistic,
    archive_labels,
    implied_statistic,
    labels2,
)
from gribmill.grib.sections import Octets, date, optional, scaled, signed, unsigned

# Code table 4.10.
STATISTICS2: dict[int, Statistic] = {
    0: "avg", 1: "accum", 2: "max", 3: "min", 4: "diff", 5: "rms", 6: "sd", 7: "cov", 8: "sdiff", 9: "ratio", 11: "sum",
}  # fmt: skip
UNSPECIFIED = 255
# Code table 4.4.
SECONDS2 = UNIT_SECONDS | {13: 1}
CALENDAR_UNITS = {3, 4, 5, 6, 7}
# Two centuries: damaged data can contain any number, and datetime has a maximum.
LONGEST_SECONDS = 200 * 366 * 86400
# ECMWF's generating processes for versions of AIFS.
AIFS_PROCESSES = range(1, 30)


def keys2(discipline: int, identification: Octets, product: Octets, local: Octets = b"") -> Keys:
    """The keys of a GRIB2 field. Level and times are None for unknown templates.

    `local` is section 2, which is read only in messages from ECMWF.
    """
    number = unsigned(product, 8, 9)
    known: dict[str, Any] = {
        "edition": 2,
        "centre": unsigned(identification, 6, 7),
        "parameter": (discipline, product[9], product[10]),
        "template": number,
        "reference": date(identification, 13),
        "process": None,
        "subcentre": optional(identification, 8, 9),
    }
    status, processed = unsigned(identification, 20, 20), unsigned(identification, 21, 21)
    own = labels2(local) if known["centre"] == ECMWF else None
    known["mars"] = own or archive_labels(status, processed)
    if own is not None and own.stream in MONTHLY_MEANS:
        known["of_many"] = "mean"
    template = TEMPLATES.get(number)
    if template is not None:
        implied = implied_statistic(known["centre"], known["parameter"])
        known |= _read(product, template, known["reference"], implied)
    return _with_true_range(Keys(**known))


def _read(product: Octets, template: ProductTemplate, reference: datetime, implied: Statistic) -> dict[str, Any]:
    process, time, surfaces = template.process, template.forecast_time, template.first_surface
    facts: dict[str, Any] = {
        "selector": bytes(product[FIRST_OCTET - 1 : process - 1]),
        "process": optional(product, process + 2, process + 2),
        "start": _duration(unsigned(product, time - 1, time - 1), _forecast_time(product, time, surfaces - 1)),
    }
    facts["end"] = facts["start"]
    if not template.surfaces:
        # The bands distinguish one image from another.
        return facts | {"selector": bytes(product[surfaces - 1 :])}
    facts |= {"level": _level(product, surfaces), "level2": _level(product, surfaces + 6)}
    facts |= _ensemble(product, template.ensemble_octet, template.ensemble)
    if template.time_range:
        facts |= _time_range(product, template.end_of_time_range, reference, facts["start"], implied)
    return facts


def _forecast_time(product: Octets, first: int, last: int) -> int:
    """Sign and magnitude according to the manual; but NOAA's air quality model writes -7 in two's complement."""
    time = signed(product, first, last)
    return unsigned(product, first, last) - (1 << 32) if time < -(1 << 30) else time


def _level(product: Octets, first: int) -> Level | None:
    kind = optional(product, first, first)
    return None if kind is None else Level(kind, scaled(product, first + 1))


def _ensemble(product: Octets, first: int, ensemble: Ensemble) -> dict[str, Any]:
    match ensemble:
        case "member" | "reforecast":
            return {
                "member_kind": optional(product, first, first),
                "member": unsigned(product, first + 1, first + 1),
                "members": optional(product, first + 2, first + 2),
            }
        case "derived":
            return {
                "derived": unsigned(product, first, first),
                "members": optional(product, first + 1, first + 1),
            }
        case "probability":
            kind = unsigned(product, first + 2, first + 2)
            limits = scaled(product, first + 3), scaled(product, first + 8)
            return {"probability": Probability(kind, *limits)}
        case "percentile":
            return {"percentile": unsigned(product, first, first)}
        case _:
            return {}


def _time_range(
    product: Octets, first: int, reference: datetime, start: timedelta | None, implied: Statistic
) -> dict[str, Any]:
    ranges = unsigned(product, first + 7, first + 7)
    if ranges == 0:
        raise GribError("it is a statistic over a time range, but has no time range")
    number = unsigned(product, first + 12, first + 12)
    statistic = implied if number == UNSPECIFIED else STATISTICS2.get(number, "other")
    length = _duration(unsigned(product, first + 14, first + 14), signed(product, first + 15, first + 18))
    if ranges > 1 or start is None or length is None:
        # For nested ranges, or lengths in months, only the stated end of the overall time range is usable.
        return {"statistic": statistic, "end": _stated_end(product, first, reference)}
    return {"statistic": statistic, "end": start + length}


def _stated_end(product: Octets, first: int, reference: datetime) -> timedelta | None:
    try:
        return date(product, first) - reference
    except GribError:
        return None


def _with_true_range(keys: Keys) -> Keys:
    """Corrects the time range of ECMWF's sums, which start with the run even if the message states otherwise.

    AIFS states the last step, or an empty time range, for sums since the run began. In ECMWF's other forecasts, only an
    empty time range is wrong.
    """
    start, end, labels = keys.start, keys.end, keys.mars
    if keys.centre != ECMWF or keys.statistic != "accum" or start is None or end is None or start <= timedelta(0):
        return keys
    if labels is None:
        wrong = start == end or keys.process in AIFS_PROCESSES
    else:
        wrong = labels.mars_class == "ai" or (start == end and labels.mars_class == "od")
    return replace(keys, start=timedelta(0), stated_start=start) if wrong else keys


def _duration(unit: int, count: int) -> timedelta | None:
    """`count` units; None for units without a fixed length, or if it is longer than any forecast."""
    if count == 0 and unit in CALENDAR_UNITS:
        return timedelta(0)
    seconds = SECONDS2.get(unit)
    if seconds is None or abs(seconds * count) > LONGEST_SECONDS:
        return None
    return timedelta(seconds=seconds * count)


# The part after the surfaces: an ensemble member, an ensemble statistic, a probability, a percentile, a reforecast.
Ensemble = Literal["", "member", "derived", "probability", "percentile", "reforecast"]
ENSEMBLE_OCTETS: dict[Ensemble, int] = {
    "": 0, "member": 3, "derived": 2, "probability": 13, "percentile": 1, "reforecast": 10,
}  # fmt: skip
FIRST_OCTET = 12


@dataclass(frozen=True, slots=True)
class ProductTemplate:
    """The positions of the parts of template 4.0 in another template. Octets are numbered from 1, as in the manual."""

    # Octets before those of 4.0, which select a part of the quantity.
    selector_octets: int = 0
    ensemble: Ensemble = ""
    # Whether the field is a statistic over a time range.
    time_range: bool = False
    forecast_time_octets: int = 4
    # If false, satellite bands follow up to the end of the section instead.
    surfaces: bool = True
    # Octets after the surfaces that are not read here.
    unread_octets: int = 0

    @property
    def process(self) -> int:
        """The octet of the type of generating process, which follows the selector."""
        return FIRST_OCTET + self.selector_octets

    @property
    def forecast_time(self) -> int:
        """The first octet of the forecast time; the preceding octet is its unit."""
        return self.process + 7

    @property
    def first_surface(self) -> int:
        """The first octet of the first fixed surface."""
        return self.forecast_time + self.forecast_time_octets

    @property
    def ensemble_octet(self) -> int:
        """The first octet of the ensemble part."""
        return self.first_surface + 12

    @property
    def end_of_time_range(self) -> int:
        """The first octet of the end of the time range; without a time range, the octet after the template."""
        return self.ensemble_octet + ENSEMBLE_OCTETS[self.ensemble] + self.unread_octets


def _with(
    selector_octets: int, plain: int, member: int, window: int | None = None, member_window: int | None = None
) -> dict[int, ProductTemplate]:
    """The templates for a deterministic forecast and a member, each for an instant and over a time range."""
    found = {plain: ProductTemplate(selector_octets), member: ProductTemplate(selector_octets, "member")}
    if window is not None:
        found[window] = ProductTemplate(selector_octets, time_range=True)
    if member_window is not None:
        found[member_window] = ProductTemplate(selector_octets, "member", time_range=True)
    return found


TEMPLATES: dict[int, ProductTemplate] = {
    **_with(0, 0, 1, 8, 11),
    2: ProductTemplate(ensemble="derived"), 12: ProductTemplate(ensemble="derived", time_range=True),
    5: ProductTemplate(ensemble="probability"), 9: ProductTemplate(ensemble="probability", time_range=True),
    6: ProductTemplate(ensemble="percentile"), 10: ProductTemplate(ensemble="percentile", time_range=True),
    60: ProductTemplate(ensemble="reforecast"), 61: ProductTemplate(ensemble="reforecast", time_range=True),
    # An analysis error.
    7: ProductTemplate(),
    # A spatial average: three more octets describe the averaging.
    15: ProductTemplate(unread_octets=3),
    # A simulated satellite image.
    32: ProductTemplate(surfaces=False),
    # A chemical constituent; with its source or sink.
    **_with(2, 40, 41, 42, 43), **_with(3, 76, 77, 78, 79),
    # An aerosol; with its wavelength; with its source or sink. Template 4.44 alone has two octets for its time.
    **_with(13, 44, 45, 46, 47), 44: ProductTemplate(13, forecast_time_octets=2),
    85: ProductTemplate(13, "member", time_range=True), **_with(24, 48, 49), **_with(25, 80, 81),
    82: ProductTemplate(14, time_range=True), 84: ProductTemplate(14, "member", time_range=True),
    # A tile of the surface; a post-processed forecast.
    **_with(6, 55, 59, 62, 63), **_with(5, 70, 71, 72, 73),
    # Waves of a range of periods; light of a range of wavelengths.
    **_with(11, 103, 104), **_with(11, 108, 109, 110, 111),
}  # fmt: skip
