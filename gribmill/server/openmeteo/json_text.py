"""Responses as JSON in Open-Meteo's format."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import orjson

from gribmill.server.openmeteo.answer import AnswerColumn, PlaceAnswer, Section, local_time
from gribmill.server.openmeteo.forecast_request import Period
from gribmill.server.openmeteo.units import TIME


def json_text(answers: Sequence[Sequence[PlaceAnswer]], *, unixtime: bool) -> bytes:
    """One object, or a list of them for several places."""
    found = [_place(number, models, unixtime) for number, models in enumerate(answers)]
    return orjson.dumps(found[0] if len(found) == 1 else found)


def shown(column: AnswerColumn, period: Period, *, unixtime: bool) -> list[float | int | str | None]:
    """The values, rounded to the decimals of their unit; null if missing."""
    if column.unit == TIME and not unixtime:
        return [local_time(round(value), period, day=False) for value in column.values]
    digits = column.decimals
    if digits == 0:
        return [None if math.isnan(value) else round(value) for value in column.values]
    return [None if math.isnan(value) else round(value, digits) + 0.0 for value in column.values]


def column_name(column: AnswerColumn, answer: PlaceAnswer, *, several: bool) -> str:
    """The name of a column; with several models, the model's name is appended."""
    return f"{column.variable.name}_{answer.model.name}" if several else column.variable.name


def times_of(section: Section, period: Period, *, unixtime: bool) -> list[str | int]:
    if unixtime:
        return [*section.times]
    return [local_time(moment, period, day=section.name == "daily") for moment in section.times]


def _place(number: int, models: Sequence[PlaceAnswer], unixtime: bool) -> dict[str, Any]:
    first, period = models[0], models[0].period
    found: dict[str, Any] = {
        "latitude": first.lat,
        "longitude": first.lon,
        "generationtime_ms": round(sum(one.generation_ms for one in models), 3),
        "utc_offset_seconds": period.offset,
        "timezone": period.zone,
        "timezone_abbreviation": period.abbreviation,
        # Clients require a number; `gribmill.elevation_known` says whether it is real.
        "elevation": 0.0 if math.isnan(first.elevation) else first.elevation,
    }
    if number:
        found["location_id"] = number
    for place, section in enumerate(first.sections):
        several = len(models) > 1
        columns = [(one, column) for one in models for column in one.sections[place].columns]
        names = {column_name(column, one, several=several): column for one, column in columns}
        single = section.name == "current"
        times: Any = times_of(section, period, unixtime=unixtime)
        units = {"time": "unixtime" if unixtime else "iso8601"} | ({"interval": "seconds"} if single else {})
        values: dict[str, Any] = {"time": times[0] if single else times}
        values |= {"interval": section.interval} if single else {}
        found[f"{section.name}_units"] = units | {
            name: column.shown_unit(unixtime=unixtime) for name, column in names.items()
        }
        lists = {name: shown(column, period, unixtime=unixtime) for name, column in names.items()}
        found[section.name] = values | {name: one[0] if single else one for name, one in lists.items()}
    found["gribmill"] = first.facts if len(models) == 1 else {one.model.name: one.facts for one in models}
    return found
