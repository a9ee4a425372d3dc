"""Responses as FlatBuffers, by the published schema of Open-Meteo's SDK: one message for each place and model.

Only the required fields are written, by their numbers in the schema.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import flatbuffers
import numpy as np
from numpy.typing import NDArray

from gribmill.server.openmeteo.answer import AnswerColumn, PlaceAnswer, PlacesAnswer, Section
from gribmill.server.openmeteo.units import TIME

# The number of fields in each table, and the field number of each section.
RESPONSE_FIELDS, SECTION_FIELDS, COLUMN_FIELDS = 16, 4, 14
SECTION_NUMBERS = {"current": 9, "current_weather": 9, "daily": 10, "hourly": 11, "minutely_15": 12}
LENGTH_BYTES = 4
Bytes = NDArray[np.uint8]


def binary(answers: Sequence[Sequence[PlaceAnswer]]) -> bytes:
    """Length-prefixed messages, one after another."""
    numbers: dict[int, tuple[PlacesAnswer, list[int]]] = {}
    for number, models in enumerate(answers):
        for one in models:
            numbers.setdefault(id(one.among), (one.among, []))[1].append(number)
    messages = {key: MessageForm(among).filled(here) for key, (among, here) in numbers.items()}
    return b"".join([messages[id(one.among)][one.row].data for models in answers for one in models])


class MessageForm:
    """A message built for one place, to be filled in with others that differ only in place and values.

    Filling it in for all places at once takes a fraction of the time of building it.
    """

    def __init__(self, answer: PlacesAnswer) -> None:
        self._answer = answer
        self._builder = flatbuffers.Builder(4096)
        # Distances from the end of the message.
        self._columns: list[int] = []
        sections = {section.name: self._section(section) for section in answer.sections}
        builder, period = self._builder, answer.period
        zone, abbreviation = (builder.CreateString(text) for text in (period.zone, period.abbreviation))
        builder.StartObject(RESPONSE_FIELDS)
        self._numbers: list[int] = []
        for field in range(4):
            # Without a default, which would not be written.
            builder.PrependFloat32Slot(field, 0.0, None)
            self._numbers.append(builder.Offset())
        builder.PrependInt64Slot(4, 0, None)
        self._location = builder.Offset()
        builder.PrependUint8Slot(5, answer.model.number, 0)
        builder.PrependInt32Slot(6, period.offset, 0)
        builder.PrependUOffsetTRelativeSlot(7, zone, 0)
        builder.PrependUOffsetTRelativeSlot(8, abbreviation, 0)
        for name, offset in sections.items():
            builder.PrependUOffsetTRelativeSlot(SECTION_NUMBERS[name], offset, 0)
        builder.FinishSizePrefixed(builder.EndObject())
        self._message = np.frombuffer(bytes(builder.Output()), np.uint8)

    def filled(self, numbers: Sequence[int]) -> Bytes:
        """The messages of all places, each a row, with the numbers of the places in the request."""
        found = np.empty((len(numbers), len(self._message)), np.uint8)
        found[:] = self._message
        answer = self._answer
        spent = [answer.generation_ms] * len(numbers)
        for offset, values in zip(self._numbers, (answer.lats, answer.lons, answer.elevations, spent), strict=True):
            _put(found, offset, np.array(values, "<f4")[:, None])
        _put(found, self._location, np.array(numbers, "<i8")[:, None])
        columns = (column for section in answer.sections for column in section.columns)
        for offset, column in zip(self._columns, columns, strict=True):
            _put(found, offset, _numbers(column))
        return found

    def _section(self, section: Section) -> int:
        builder, single = self._builder, section.single
        columns = [self._column(column, single=single) for column in section.columns]
        builder.StartVector(4, len(columns), 4)
        for offset in reversed(columns):
            builder.PrependUOffsetTRelative(offset)
        variables = builder.EndVector()
        builder.StartObject(SECTION_FIELDS)
        builder.PrependInt64Slot(0, section.times[0] if section.times else 0, 0)
        builder.PrependInt64Slot(1, section.times[-1] + section.interval if section.times else 0, 0)
        builder.PrependInt32Slot(2, section.interval, 0)
        builder.PrependUOffsetTRelativeSlot(3, variables, 0)
        return int(builder.EndObject())

    def _column(self, column: AnswerColumn, *, single: bool) -> int:
        builder, variable = self._builder, column.variable
        values = None if single else builder.CreateNumpyVector(_numbers(column)[0])
        builder.StartObject(COLUMN_FIELDS)
        builder.PrependUint8Slot(0, variable.number, 0)
        builder.PrependUint8Slot(1, column.unit_number, 0)
        if values is None:
            builder.PrependFloat32Slot(2, 0.0, None)
            self._columns.append(builder.Offset())
        else:
            builder.PrependUOffsetTRelativeSlot(4 if column.unit == TIME else 3, values, 0)
            # Behind the length.
            self._columns.append(values - LENGTH_BYTES)
        builder.PrependInt16Slot(5, variable.altitude, 0)
        builder.PrependUint8Slot(6, column.aggregation_number, 0)
        builder.PrependInt16Slot(7, variable.pressure_level, 0)
        return int(builder.EndObject())


def _put(messages: Bytes, offset: int, rows: NDArray[Any]) -> None:
    """Write the bytes of a row into each message, at this distance from its end."""
    written = np.ascontiguousarray(rows).view(np.uint8)
    begin = messages.shape[1] - offset
    messages[:, begin : begin + written.shape[1]] = written


def _numbers(column: AnswerColumn) -> NDArray[Any]:
    """The values in the type of the schema; NaN if they are too large for it."""
    if column.unit == TIME:
        return np.asarray(column.values, "<i8")
    with np.errstate(over="ignore"):
        found = column.values.astype("<f4")
    found[np.isinf(found)] = np.nan
    return found
