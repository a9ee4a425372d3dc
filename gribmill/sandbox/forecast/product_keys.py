"""Describes a field with ecCodes keys of GRIB2's sections 1 and 4: parameter, level, time, ensemble member."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from gribmill.grib.product.keys import Statistic
from gribmill.sandbox.forecast.file_contents import PlannedField
from gribmill.sandbox.forecast.publisher_style import PublisherStyle
from gribmill.sandbox.grib_writer.level_keys import level_keys

TABLES_VERSION = 33
ECMWF = "ecmf"
STATISTICS: dict[Statistic, int] = {"avg": 0, "accum": 1, "max": 2, "min": 3}
TYPES_OF_LEVEL = {"pl": "isobaricInhPa", "sol": "soilLayer"}
# Product definition templates: plain, member and derived, each for an instant and for a time range.
PLAIN, MEMBER, DERIVED = (0, 8), (1, 11), (2, 12)
# Code table 4.7. An index says `ens mean`, `ens spread`.
DERIVATIONS = {"ens mean": 0, "ens std dev": 2, "ens spread": 4}
# Code table 4.6: an unperturbed low-resolution control, a positively perturbed member.
CONTROL, PERTURBED, ECMWF_MEMBER = 1, 3, 255


def product_keys(item: PlannedField, style: PublisherStyle, run: datetime) -> Iterator[tuple[str, Any]]:
    """The keys in the order in which they must be set."""
    yield "centre", style.centre
    if style.centre == ECMWF:
        yield from _labels(item, style)
    yield "tablesVersion", TABLES_VERSION
    yield "dataDate", int(run.strftime("%Y%m%d"))
    yield "dataTime", int(run.strftime("%H%M"))
    yield "stepUnits", "h" if item.window.start % 60 == item.window.end % 60 == 0 else "m"
    if style.process is not None:
        yield "generatingProcessIdentifier", style.process
    yield from _by_number(item) if item.parameter else _by_name(item, style)
    yield "stepRange", _step(item)


def _labels(item: PlannedField, style: PublisherStyle) -> Iterator[tuple[str, Any]]:
    """ECMWF's local section."""
    kind = item.extra.partition(":")[0]
    yield "setLocalDefinition", 1
    yield "localDefinitionNumber", 1
    yield "marsClass", style.mars_class
    yield "marsType", kind if kind in ("pf", "cf") else "fc"
    yield "marsStream", style.stream


def _by_number(item: PlannedField) -> Iterator[tuple[str, Any]]:
    window = item.window.statistic != "instant"
    templates, member = _member(item.extra)
    yield "discipline", item.parameter[0]
    yield "productDefinitionTemplateNumber", templates[window]
    yield "parameterCategory", item.parameter[1]
    yield "parameterNumber", item.parameter[2]
    yield from level_keys(item.level)
    yield from member
    if window:
        yield "typeOfStatisticalProcessing", STATISTICS[item.window.statistic]


def _by_name(item: PlannedField, style: PublisherStyle) -> Iterator[tuple[str, Any]]:
    """ECMWF's names bring their level, and their statistic too."""
    kind, _, number = item.extra.partition(":")
    param_id = style.param_ids.get(item.element)
    yield ("paramId", param_id) if param_id else ("shortName", item.element)
    levtype, _, level = item.level.partition(" ")
    if level:
        yield "typeOfLevel", TYPES_OF_LEVEL[levtype]
        yield "level", int(level)
    if kind in ("pf", "cf"):
        yield "productDefinitionTemplateNumber", MEMBER[item.window.statistic != "instant"]
        yield "typeOfEnsembleForecast", ECMWF_MEMBER
        yield "perturbationNumber", int(number or 0)
        yield "numberOfForecastsInEnsemble", 51


def _member(extra: str) -> tuple[tuple[int, int], list[tuple[str, int]]]:
    if extra in DERIVATIONS:
        return DERIVED, [("derivedForecast", DERIVATIONS[extra]), ("numberOfForecastsInEnsemble", 30)]
    if not extra.startswith("ENS="):
        return PLAIN, []
    number = re.fullmatch(r"ENS=\+([0-9]{1,3})", extra)
    kind = PERTURBED if number else CONTROL
    return MEMBER, [
        ("typeOfEnsembleForecast", kind),
        ("perturbationNumber", int(number[1]) if number else 0),
        ("numberOfForecastsInEnsemble", 30),
    ]


def _step(item: PlannedField) -> str:
    unit = 60 if item.window.start % 60 == item.window.end % 60 == 0 else 1
    start, end = item.window.start // unit, item.window.end // unit
    return str(end) if item.window.statistic == "instant" else f"{start}-{end}"
