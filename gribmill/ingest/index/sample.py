"""Makes small indexes from a model's sample inventory, to check which variables its files contain."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from datetime import datetime
from importlib.resources import files
from typing import NamedTuple

from gribmill.grib.names.time_range import WGRIB2_STATISTICS, TimeRange, write_time_range
from gribmill.ingest.errors import ModelError
from gribmill.ingest.models.model import Model

# Times in inventories: `inst`; `acc run`, since the run began; `max 1h`, over the last hour; `ave since 6h`, since the
# last of the resets every six hours; `ave 5m`, in minutes.
_TIME = re.compile(r"(acc|ave|max|min) (?:(run)|(since )?([0-9]{1,3})(h|m))")
MESSAGE_BYTES = 1000
_SOURCE = re.compile(r"# source: (real|reported|made up)[, ] ?(?:index of )?(.+)")


class SampleSource(NamedTuple):
    """The origin of an inventory: `real` (taken from an index), `reported` by others or `made up`, with details."""

    kind: str
    text: str


def sample_index(model: Model, run: datetime, hour: int) -> bytes:
    """An index for that hour, with made-up sizes. Raises ModelError if the model has no sample inventory."""
    lines = inventory_lines(model)
    minutes = hour * 60 + model.offset_minutes
    if model.layouts[0].index == "ecmwf_index":
        return _ecmwf(lines, model.extras[0], run, hour)
    rows = [_noaa(line, minutes, model.extras[0]) for line in lines]
    texts = [
        f"{number}:{(number - 1) * MESSAGE_BYTES}:d={run:%Y%m%d%H}:{row}"
        for number, row in enumerate(filter(None, rows), 1)
    ]
    return "".join(f"{text}\n" for text in texts).encode("ascii")


def inventory_lines(model: Model) -> list[str]:
    """The lines of the model's inventory, without blank lines and comments."""
    return [line for line in _sample_text(model) if line and not line.startswith("#")]


def sample_source(model: Model) -> SampleSource:
    """The origin of the model's inventory, from its first line."""
    found = _SOURCE.fullmatch(next(iter(_sample_text(model)), ""))
    if not found:
        raise ModelError(f"the sample inventory {model.sample} does not say where it is from")
    return SampleSource(found[1], found[2])


def _sample_text(model: Model) -> list[str]:
    path = files("gribmill.ingest.models").joinpath("samples", f"{model.sample}.txt")
    if model.sample is None or not path.is_file():
        raise ModelError(f"model {model.id} has no sample inventory to check its variables against; give an index file")
    return [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]


def split_line(line: str) -> tuple[str, str, str, str]:
    """Element, level, time and optional trailing text of a line in a NOAA inventory."""
    element, level, time, *extra = line.split(":", 3)
    return element, level, time, extra[0] if extra else ""


def _noaa(line: str, minutes: int, member: str) -> str | None:
    element, level, time, extra = split_line(line)
    window = window_at(time, minutes)
    return f"{element}:{level}:{write_time_range(window)}:{extra or member}" if window else None


def window_at(time: str, minutes: int) -> TimeRange | None:
    """The time range of an inventory's time at that minute of the run; None if it has not started yet."""
    if time == "inst":
        return TimeRange(minutes, minutes)
    found = _TIME.fullmatch(time)
    if not found:
        raise ModelError(f"{time!r} is not a time of an inventory")
    statistic = WGRIB2_STATISTICS[found[1]]
    if found[2]:
        return TimeRange(0, minutes, statistic)
    length = int(found[4]) * (60 if found[5] == "h" else 1)
    start = (minutes - 1) // length * length if found[3] else minutes - length
    return TimeRange(start, minutes, statistic) if 0 <= start < minutes else None


def _ecmwf(lines: Iterable[str], extra: str, run: datetime, hour: int) -> bytes:
    kind, _, member = extra.partition(":")
    texts = []
    for number, line in enumerate(lines):
        param, levtype, *level = line.split()
        row = {"domain": "g", "date": f"{run:%Y%m%d}", "time": f"{run:%H%M}", "type": kind, "step": str(hour)}
        row |= {"levtype": levtype, "param": param}
        row |= {"levelist": level[0]} if level else {}
        row |= {"number": member} if member else {}
        texts.append(json.dumps({**row, "_offset": number * MESSAGE_BYTES, "_length": MESSAGE_BYTES}))
    return "".join(f"{text}\n" for text in texts).encode("ascii")
