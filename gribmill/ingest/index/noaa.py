"""Parses NOAA's .idx files, written by `wgrib2 -s`: `71:45276939:d=2025080100:TMP:2 m above ground:8 hour fcst:`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

from gribmill.ingest.errors import BadIndex, WrongRun
from gribmill.ingest.index.entry import LARGEST_OFFSET, SHORTEST_MESSAGE, IndexEntry, Inventory, numbered_lines

FORM = "number:offset:d=date:element:level:time:"
_NUMBER = re.compile(r"([0-9]{1,7})(?:\.([0-9]{1,4}))?")
_DATE = re.compile(r"[dD]=([0-9]{10})(?:(00)(?:00)?)?")


@dataclass(frozen=True, slots=True)
class _Line:
    line: int
    number: int
    sub: int
    offset: int
    reference: datetime
    element: str
    level: str
    window: str
    extra: str


def parse_noaa(data: bytes, source: str, run: datetime | None = None, size: int | None = None) -> Inventory:
    """The entries of an index. Raises BadIndex for other files, other runs and contradictory lines.

    `size` is the size of the GRIB file: no message may start beyond it, and the last one ends there.
    """
    lines = [_read(source, number, text) for number, text in numbered_lines(data, source)]
    for line in lines:
        if run is not None and line.reference != run:
            raise WrongRun(
                source, line.line, f"this is of the run {line.reference:%Y-%m-%d %H} UTC, not {run:%Y-%m-%d %H}"
            )
    ends = _ends(source, lines, size)
    return Inventory(
        "noaa_idx",
        source,
        tuple(
            IndexEntry(
                line.number, line.sub, line.offset, ends[line.offset], line.reference,
                line.element, line.level, line.window, line.extra,
            )
            for line in lines
        ),
    )  # fmt: skip


def _read(source: str, number: int, text: str) -> _Line:
    parts = [part.strip() for part in text.split(":")]
    if len(parts) < 6:
        raise BadIndex(source, number, f"{text[:80]!r} is not of the form {FORM}")
    message, offset, date, element, level, window, *extra = parts
    found = _NUMBER.fullmatch(message)
    if not found:
        raise BadIndex(source, number, f"{message[:40]!r} is not a message number")
    if not element or not level:
        raise BadIndex(source, number, "the line has no element or no level")
    return _Line(
        line=number,
        number=int(found[1]),
        sub=int(found[2] or 0),
        offset=_offset(source, number, offset),
        reference=_reference(source, number, date),
        element=element,
        level=level,
        window=window,
        extra=":".join(extra).rstrip(":"),
    )


def _offset(source: str, number: int, text: str) -> int:
    if text.startswith("-"):
        raise BadIndex(source, number, f"a negative offset, {text[:30]}: written by a tool with 32-bit offsets")
    if not re.fullmatch(r"[0-9]{1,30}", text):
        raise BadIndex(source, number, f"{text[:30]!r} is not an offset")
    if int(text) > LARGEST_OFFSET:
        raise BadIndex(source, number, f"an offset of {text} is beyond any file")
    return int(text)


def _reference(source: str, number: int, text: str) -> datetime:
    moment = _moment(text)
    if moment is None:
        raise BadIndex(source, number, f"{text[:30]!r} is not a date of the form d=YYYYMMDDHH")
    return moment


@lru_cache(maxsize=64)
def _moment(text: str) -> datetime | None:
    """Cached: hundreds of lines have the same date."""
    found = _DATE.fullmatch(text)
    try:
        return datetime.strptime(found[1], "%Y%m%d%H").replace(tzinfo=UTC) if found else None
    except ValueError:
        return None


def _ends(source: str, lines: list[_Line], size: int | None) -> dict[int, int | None]:
    """The end of each message: the start of the next one, or the end of the file."""
    ends: dict[int, int | None] = {}
    before: _Line | None = None
    for line in lines:
        if before is not None and line.offset == before.offset:
            if (line.number, line.sub) <= (before.number, before.sub) or line.number != before.number:
                raise BadIndex(source, line.line, f"two messages begin at {line.offset}")
        elif before is not None:
            if line.offset < before.offset or line.number <= before.number:
                raise BadIndex(source, line.line, f"message {line.number} at {line.offset} is out of order")
            if line.offset - before.offset < SHORTEST_MESSAGE:
                raise BadIndex(source, line.line, f"message {before.number} is too short to end at {line.offset}")
            ends[before.offset] = line.offset
        before = line
    if before is None:
        raise BadIndex(source, None, "the index is empty")
    if size is not None and before.offset + SHORTEST_MESSAGE > size:
        reason = f"message {before.number} begins at {before.offset}, but the file has {size} bytes: the index is stale"
        raise BadIndex(source, before.line, reason)
    ends[before.offset] = size
    return ends
