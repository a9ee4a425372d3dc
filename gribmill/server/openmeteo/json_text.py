"""Responses as JSON in Open-Meteo's format."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import orjson

from gribmill.arrays import Floats
from gribmill.kernel import native
from gribmill.server.openmeteo.answer import AnswerColumn, PlaceAnswer, PlacesAnswer, Section, local_time
from gribmill.server.openmeteo.period import Period
from gribmill.server.openmeteo.rounded import rounded
from gribmill.server.openmeteo.units import TIME

# Larger floats are written with an exponent, and larger integers cannot be written.
LARGEST_FLOAT = 1e15
INTEGERS = -(2.0**63), 2.0**64
Texts = Sequence[bytes]


def json_text(answers: Sequence[Sequence[PlaceAnswer]], *, unixtime: bool) -> bytes:
    """One object, or a list of them for several places.

    Places that share their tiles differ only in numbers: these are written for all of them at once.
    """
    alike: dict[tuple[int, ...], list[int]] = {}
    for number, models in enumerate(answers):
        alike.setdefault(tuple([id(one.among) for one in models]), []).append(number)
    found = [b""] * len(answers)
    for numbers in alike.values():
        form = PlaceForm([one.among for one in answers[numbers[0]]], unixtime=unixtime)
        rows = zip(*([one.row for one in answers[number]] for number in numbers), strict=True)
        for number, text in zip(numbers, form.filled(numbers, [*rows]), strict=True):
            found[number] = text
    return found[0] if len(found) == 1 else b"[" + b",".join(found) + b"]"


def shown(column: AnswerColumn, period: Period, *, unixtime: bool) -> list[Any]:
    """The rounded values of a place, as integers if the unit has no decimals."""
    if column.unit == TIME and not unixtime:
        return [local_time(round(value), period, day=False) for value in column.values.tolist()]
    values: list[float] = rounded(column.values, column.decimals).tolist()
    return values if column.decimals else [_integer(value) for value in values]


def _integer(value: float) -> float | None:
    if not math.isfinite(value):
        return None
    return round(value) if INTEGERS[0] <= value < INTEGERS[1] else value


def column_name(column: AnswerColumn, answer: PlaceAnswer | PlacesAnswer, *, several: bool) -> str:
    """The name of a column; with several models, the model's name is appended."""
    return f"{column.variable.name}_{answer.model.name}" if several else column.variable.name


def times_of(section: Section, period: Period, *, unixtime: bool) -> Sequence[str | int]:
    if unixtime:
        return section.times
    return _local_times(section.times, period, section.name == "daily")


# Shared by the places of a response.
@lru_cache(maxsize=16)
def _local_times(times: tuple[int, ...], period: Period, day: bool) -> tuple[str, ...]:
    return tuple(local_time(moment, period, day=day) for moment in times)


class Blank(NamedTuple):
    """A part of the response that differs from place to place: the text of each row of a model's response."""

    model: int
    texts: Texts


class PlaceForm:
    """The responses of some models for places that share their tiles, from text that is equal for all of them."""

    def __init__(self, models: Sequence[PlacesAnswer], *, unixtime: bool) -> None:
        self._models, self._unixtime = models, unixtime
        self._parts: list[bytes | Blank | None] = []
        first, period = models[0], models[0].period
        self._add(b'{"latitude":', Blank(0, _floats(first.lats)), b',"longitude":', Blank(0, _floats(first.lons)))
        spent = round(sum(one.generation_ms for one in models), 3)
        facts = {
            "generationtime_ms": spent,
            "utc_offset_seconds": period.offset,
            "timezone": period.zone,
            "timezone_abbreviation": period.abbreviation,
        }
        # Clients require a number; `gribmill.elevation_known` says whether it is real.
        heights = [0.0 if math.isnan(one) else one for one in first.elevations]
        self._add(b",", orjson.dumps(facts)[1:-1], b',"elevation":', Blank(0, _floats(heights)), None)
        for place in range(len(first.sections)):
            self._add_section(place)
        self._add_facts()
        self._add(b"}")

    def filled(self, numbers: Sequence[int], rows: Sequence[Sequence[int]]) -> list[bytes]:
        """The responses of places with these numbers; `rows` are those of each model."""
        columns: list[Texts] = []
        for part in self._parts:
            if part is None:
                columns.append([b',"location_id":%d' % number if number else b"" for number in numbers])
            elif isinstance(part, Blank):
                columns.append([part.texts[row] for row in rows[part.model]])
            else:
                columns.append([part] * len(numbers))
        return [b"".join(texts) for texts in zip(*columns, strict=True)]

    def _add(self, *parts: bytes | Blank | None) -> None:
        """Parts of the response; None for the number of the place."""
        for part in parts:
            before = self._parts[-1] if self._parts else None
            if isinstance(part, bytes) and isinstance(before, bytes):
                self._parts[-1] = before + part
            else:
                self._parts.append(part)

    def _add_section(self, place: int) -> None:
        models, unixtime = self._models, self._unixtime
        section, period = models[0].sections[place], models[0].period
        several, single = len(models) > 1, section.single
        columns = [(number, column) for number, one in enumerate(models) for column in one.sections[place].columns]
        names = {column_name(column, models[number], several=several): (number, column) for number, column in columns}
        times = times_of(section, period, unixtime=unixtime)
        units = {"time": "unixtime" if unixtime else "iso8601"} | ({"interval": "seconds"} if single else {})
        units |= {name: column.shown_unit(unixtime=unixtime) for name, (_, column) in names.items()}
        values: dict[str, Any] = {"time": times[0] if single else times}
        values |= {"interval": section.interval} if single else {}
        self._add(b',"%s_units":%s' % (section.name.encode(), orjson.dumps(units)))
        self._add(b',"%s":%s' % (section.name.encode(), orjson.dumps(values)[:-1]))
        for name, (number, column) in names.items():
            texts = Blank(number, _rows(column, period, unixtime=unixtime))
            head = b",%s:" % orjson.dumps(name)
            self._add(*((head, texts) if single else (head + b"[", texts, b"]")))
        self._add(b"}")

    def _add_facts(self) -> None:
        several = len(self._models) > 1
        self._add(b',"gribmill":' + b"{" * several)
        for number, one in enumerate(self._models):
            each = [orjson.dumps(one.facts(elevation_known=known)) for known in (False, True)]
            head = b"," if number else b""
            self._add(head + orjson.dumps(one.model.name) + b":" if several else b"")
            self._add(Blank(number, [each[known] for known in one.elevations_known]))
        self._add(b"}" * several)


def _rows(column: AnswerColumn, period: Period, *, unixtime: bool) -> Texts:
    """The values of each place, separated by commas; null if missing."""
    if column.unit == TIME and not unixtime:
        each = column.values.tolist()
        return [orjson.dumps([local_time(round(value), period, day=False) for value in row])[1:-1] for row in each]
    return number_rows(column.values, column.decimals)


def number_rows(values: Floats, decimals: int) -> Texts:
    """The rounded numbers of each row, separated by commas; integers without decimals, null where not finite."""
    values = np.ascontiguousarray(values, np.float64)
    if native.available() and values.size:
        found = native.decimal_rows(values, values.shape[1], decimals)
        if found is not None:
            return found
    values = rounded(values, decimals)
    return _numbers_of_rows(values) if decimals else _integers_of_rows(values)


def _integers_of_rows(values: Floats) -> Texts:
    finite = np.isfinite(values)
    if (finite & (np.abs(values) >= LARGEST_FLOAT)).any():
        return [orjson.dumps([_integer(value) for value in row])[1:-1] for row in values.tolist()]
    if finite.all():
        return _numbers_of_rows(values.astype(np.int64))
    return [row.replace(b".0", b"") for row in _numbers_of_rows(values)]


def _numbers_of_rows(values: Any) -> Texts:
    if not values.shape[1]:
        return [b""] * len(values)
    return orjson.dumps(np.ascontiguousarray(values), option=orjson.OPT_SERIALIZE_NUMPY)[2:-2].split(b"],[")


def _floats(values: Sequence[float]) -> Texts:
    return orjson.dumps(values)[1:-1].split(b",")
