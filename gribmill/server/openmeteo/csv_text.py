"""Responses as CSV in Open-Meteo's format: the places, then a table for each section."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from typing import Any

from gribmill.server.openmeteo.answer import PlaceAnswer
from gribmill.server.openmeteo.json_text import column_name, shown, times_of

PLACE = ["latitude", "longitude", "elevation", "utc_offset_seconds", "timezone", "timezone_abbreviation"]
LOCATION = "location_id"


def csv_text(answers: Sequence[Sequence[PlaceAnswer]], *, unixtime: bool) -> bytes:
    out = io.StringIO()
    write = csv.writer(out, lineterminator="\n").writerow
    many = len(answers) > 1
    write([*([LOCATION] if many else []), *PLACE])
    for number, models in enumerate(answers):
        one = models[0]
        height = "NaN" if math.isnan(one.elevation) else one.elevation
        period = one.period
        row = [one.lat, one.lon, height, period.offset, period.zone, period.abbreviation]
        write([*([number] if many else []), *row])
    for place in range(len(answers[0][0].among.sections)):
        out.write("\n")
        for number, models in enumerate(answers):
            several = len(models) > 1
            columns = [(one, column) for one in models for column in one.among.sections[place].at(one.row).columns]
            if number == 0:
                heads = [
                    f"{column_name(column, one, several=several)} ({column.shown_unit(unixtime=unixtime)})"
                    for one, column in columns
                ]
                write([*([LOCATION] if many else []), "time", *heads])
            section, period = models[0].among.sections[place], models[0].period
            times = times_of(section, period, unixtime=unixtime)
            values = [_cells(shown(column, period, unixtime=unixtime)) for _, column in columns]
            for cells in zip(times, *values, strict=True):
                write([*([number] if many else []), *cells])
    return out.getvalue().encode()


def _cells(values: list[Any]) -> list[Any]:
    return ["NaN" if value is None or value != value else value for value in values]
