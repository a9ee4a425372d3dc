"""Indexes as their publishers write them: NOAA's .idx (wgrib2) and ECMWF's .index (JSON lines)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from gribmill.grib.names.wgrib2_time import write_time_range
from gribmill.ingest.models.model_file import IndexKind
from gribmill.sandbox.forecast.file_contents import Item
from gribmill.sandbox.forecast.publisher_style import Style


@dataclass(frozen=True, slots=True)
class Placed:
    """A message in its file, with the fields that it holds."""

    items: tuple[Item, ...]
    offset: int
    length: int


def write_index(kind: IndexKind, placed: Sequence[Placed], style: Style, run: datetime) -> bytes | None:
    """The index of a file; None where its publisher writes none."""
    if kind == "none":
        return None
    lines = (
        (_ecmwf(item, message, style, run) if kind == "ecmwf_index" else _noaa(item, message, label, run))
        for number, message in enumerate(placed, 1)
        for label, item in _labelled(number, message)
    )
    return "".join(f"{line}\n" for line in lines).encode("ascii")


def _labelled(number: int, message: Placed) -> list[tuple[str, Item]]:
    if len(message.items) == 1:
        return [(str(number), message.items[0])]
    return [(f"{number}.{sub}", item) for sub, item in enumerate(message.items, 1)]


def _noaa(item: Item, message: Placed, label: str, run: datetime) -> str:
    words = f"{item.element}:{item.level}:{write_time_range(item.window)}:{item.extra}"
    return f"{label}:{message.offset}:d={run:%Y%m%d%H}:{words}"


def _ecmwf(item: Item, message: Placed, style: Style, run: datetime) -> str:
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
