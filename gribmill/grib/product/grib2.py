"""Reads section 4 of a GRIB2 message, according to its product definition template."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from gribmill.grib.errors import GribError
from gribmill.grib.octets import Octets, date, optional, scaled, signed, unsigned
from gribmill.grib.product.keys import (
    ECMWF,
    MONTHLY_MEANS,
    STATISTICS2,
    Keys,
    Level,
    Probability,
    Statistic,
    archive_labels,
    implied_statistic,
    labels2,
    with_true_range,
)
from gribmill.grib.product.templates import FIRST_OCTET, TEMPLATES, Ensemble, ProductTemplate, duration

UNSPECIFIED = 255


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
    return with_true_range(Keys(**known))


def _read(product: Octets, template: ProductTemplate, reference: datetime, implied: Statistic) -> dict[str, Any]:
    process, time, surfaces = template.process, template.forecast_time, template.first_surface
    facts: dict[str, Any] = {
        "selector": bytes(product[FIRST_OCTET - 1 : process - 1]),
        "process": optional(product, process + 2, process + 2),
        "start": duration(2, unsigned(product, time - 1, time - 1), _forecast_time(product, time, surfaces - 1)),
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
    length = duration(2, unsigned(product, first + 14, first + 14), signed(product, first + 15, first + 18))
    if ranges > 1 or start is None or length is None:
        # For nested ranges, or lengths in months, only the stated end of the overall time range is usable.
        return {"statistic": statistic, "end": _stated_end(product, first, reference)}
    return {"statistic": statistic, "end": start + length}


def _stated_end(product: Octets, first: int, reference: datetime) -> timedelta | None:
    try:
        return date(product, first) - reference
    except GribError:
        return None
