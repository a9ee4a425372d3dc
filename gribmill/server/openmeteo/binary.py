"""Responses as FlatBuffers, by the published schema of Open-Meteo's SDK: one message for each place and model.

Only the required fields are written, by their numbers in the schema.
"""

from __future__ import annotations

from collections.abc import Sequence

import flatbuffers
import numpy as np

from gribmill.server.openmeteo.answer import AnswerColumn, PlaceAnswer, Section
from gribmill.server.openmeteo.units import TIME

# The number of fields in each table, and the field number of each section.
RESPONSE_FIELDS, SECTION_FIELDS, COLUMN_FIELDS = 16, 4, 14
SECTION_NUMBERS = {"current": 9, "daily": 10, "hourly": 11, "minutely_15": 12}


def binary(answers: Sequence[Sequence[PlaceAnswer]]) -> bytes:
    """Length-prefixed messages, one after another."""
    return b"".join(_message(number, one) for number, models in enumerate(answers) for one in models)


def _message(location: int, answer: PlaceAnswer) -> bytes:
    builder = flatbuffers.Builder(4096)
    sections = {section.name: _section(builder, section) for section in answer.sections}
    zone, abbreviation = (builder.CreateString(text) for text in (answer.period.zone, answer.period.abbreviation))
    builder.StartObject(RESPONSE_FIELDS)
    builder.PrependFloat32Slot(0, answer.lat, 0.0)
    builder.PrependFloat32Slot(1, answer.lon, 0.0)
    builder.PrependFloat32Slot(2, answer.elevation, 0.0)
    builder.PrependFloat32Slot(3, answer.generation_ms, 0.0)
    builder.PrependInt64Slot(4, location, 0)
    builder.PrependUint8Slot(5, answer.model.number, 0)
    builder.PrependInt32Slot(6, answer.period.offset, 0)
    builder.PrependUOffsetTRelativeSlot(7, zone, 0)
    builder.PrependUOffsetTRelativeSlot(8, abbreviation, 0)
    for name, offset in sections.items():
        builder.PrependUOffsetTRelativeSlot(SECTION_NUMBERS[name], offset, 0)
    builder.FinishSizePrefixed(builder.EndObject())
    return bytes(builder.Output())


def _section(builder: flatbuffers.Builder, section: Section) -> int:
    single = section.name == "current"
    columns = [_column(builder, column, single=single) for column in section.columns]
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


def _column(builder: flatbuffers.Builder, column: AnswerColumn, *, single: bool) -> int:
    is_time = column.unit == TIME
    values = None if single else builder.CreateNumpyVector(np.asarray(column.values, "<i8" if is_time else "<f4"))
    variable = column.variable
    builder.StartObject(COLUMN_FIELDS)
    builder.PrependUint8Slot(0, variable.number, 0)
    builder.PrependUint8Slot(1, column.unit_number, 0)
    if values is None:
        builder.PrependFloat32Slot(2, column.values[0], 0.0)
    else:
        builder.PrependUOffsetTRelativeSlot(4 if is_time else 3, values, 0)
    builder.PrependInt16Slot(5, variable.altitude, 0)
    builder.PrependUint8Slot(6, column.aggregation_number, 0)
    builder.PrependInt16Slot(7, variable.pressure_level, 0)
    return int(builder.EndObject())
