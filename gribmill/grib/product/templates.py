"""The product definition templates of GRIB2, described by what they add to template 4.0."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

_BOTH = {0: 60, 1: 3600, 2: 86400, 10: 10800, 11: 21600, 12: 43200}
# Seconds in a unit, by edition. Months and longer have no fixed length.
UNIT_SECONDS = {1: _BOTH | {13: 900, 14: 1800, 254: 1}, 2: _BOTH | {13: 1}}
CALENDAR_UNITS = {3, 4, 5, 6, 7}
# Two centuries: damaged data can contain any number, and datetime has a maximum.
LONGEST_SECONDS = 200 * 366 * 86400


def duration(edition: int, unit: int, count: int) -> timedelta | None:
    """`count` units; None for units without a fixed length, or if it is longer than any forecast."""
    if count == 0 and unit in CALENDAR_UNITS:
        return timedelta(0)
    seconds = UNIT_SECONDS[edition].get(unit)
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
