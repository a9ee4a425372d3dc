"""Writes index files: NOAA's .idx (in wgrib2's form) and ECMWF's .index (JSON lines)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from gribmill.grib.names.time_range import write_time_range
from gribmill.ingest.mirror import IndexKind
from gribmill.sandbox.forecast.file_contents import PlannedField
from gribmill.sandbox.forecast.publisher_style import PublisherStyle


@dataclass(frozen=True, slots=True)
class WrittenMessage:
    """A message in its file, with its fields."""

    items: tuple[PlannedField, ...]
    offset: int
    length: int


def write_index(
    kind: IndexKind, placed: Sequence[WrittenMessage], style: PublisherStyle, run: datetime
) -> bytes | None:
    """The index of a file; None if the publisher provides none."""
    if kind == "none":
        return None
    if kind == "ecmwf_index":
        lines = [_ecmwf(item, message, style, run) for message in placed for item in message.items]
    else:
        rows = ((message.offset, [_row(item) for item in message.items]) for message in placed)
        lines = list(noaa_lines(rows, f"{run:%Y%m%d%H}"))
    return "".join(f"{line}\n" for line in lines).encode("ascii")


def noaa_lines(messages: Iterable[tuple[int, Sequence[str]]], date: str) -> Iterator[str]:
    """The lines of an .idx. A message has its offset and a row `ELEMENT:LEVEL:TIME:EXTRA` for each of its fields."""
    for number, (offset, rows) in enumerate(messages, 1):
        for sub, row in enumerate(rows, 1):
            label = f"{number}.{sub}" if len(rows) > 1 else str(number)
            yield f"{label}:{offset}:d={date}:{row}"


def _row(item: PlannedField) -> str:
    return f"{item.element}:{item.level}:{write_time_range(item.window)}:{item.extra}"


def _ecmwf(item: PlannedField, message: WrittenMessage, style: PublisherStyle, run: datetime) -> str:
    kind, _, number = item.extra.partition(":")
    levtype, _, level = item.level.partition(" ")
    row = {
        "domain": "g",
        "date": f"{run:%Y%m%d}",
        "time": f"{run:%H%M}",
        "expver": "0001",
        "class": style.mars_class,
        "type": kind,
        "stream": style.stream,
        "step": str(item.window.end // 60),
        "levtype": levtype,
        **({"levelist": level} if level else {}),
        **({"number": number} if number else {}),
        "param": item.element,
    }
    return json.dumps({**row, "_offset": message.offset, "_length": message.length})
