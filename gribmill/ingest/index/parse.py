"""Parses index files: NOAA's .idx, and ECMWF's .index with a JSON object per line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from itertools import pairwise
from typing import Any

from gribmill.grib.messages import wrong_file
from gribmill.ingest.errors import BadIndex, IngestError, WrongRun
from gribmill.ingest.index.entry import INDEX_LIMIT_BYTES, LARGEST_OFFSET, SHORTEST_MESSAGE, IndexEntry, Inventory
from gribmill.ingest.mirror import IndexKind

# NOAA's, as written by `wgrib2 -s`: `71:45276939:d=2025080100:TMP:2 m above ground:8 hour fcst:`.
FORM = "number:offset:d=date:element:level:time:"
_NUMBER = re.compile(r"([0-9]{1,7})(?:\.([0-9]{1,4}))?")
_DATE = re.compile(r"[dD]=([0-9]{10})(?:(00)(?:00)?)?")
# ECMWF's: the keys that every line has, beside `_offset` and `_length`.
NEEDED = ("param", "levtype", "step")
LONGEST_VALUE = 100
LIMIT_LINES = 200_000
LIMIT_LINE_CHARACTERS = 4_000


def parse_index(
    kind: IndexKind, data: bytes, source: str, run: datetime | None = None, size: int | None = None
) -> Inventory:
    """The inventory in an index of that kind. Raises BadIndex if it cannot be trusted."""
    if kind == "noaa_idx":
        return parse_noaa(data, source, run, size)
    if kind == "ecmwf_index":
        return parse_ecmwf(data, source, run, size)
    raise IngestError(f"{source}: this model has no index; its files are fetched whole")


def guess_kind(data: bytes) -> IndexKind:
    """ECMWF's for JSON lines; NOAA's for anything else."""
    return "ecmwf_index" if data.lstrip().startswith(b"{") else "noaa_idx"


@dataclass(frozen=True, slots=True)
class _NoaaLine:
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
    lines = [_noaa_line(source, number, text) for number, text in _numbered_lines(data, source)]
    for line in lines:
        if run is not None and line.reference != run:
            raise WrongRun(
                source, line.line, f"this is of the run {line.reference:%Y-%m-%d %H} UTC, not {run:%Y-%m-%d %H}"
            )
    ends = _noaa_ends(source, lines, size)
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


def _noaa_line(source: str, number: int, text: str) -> _NoaaLine:
    parts = [part.strip() for part in text.split(":")]
    if len(parts) < 6:
        raise BadIndex(source, number, f"{text[:80]!r} is not of the form {FORM}")
    message, offset, date, element, level, window, *extra = parts
    found = _NUMBER.fullmatch(message)
    if not found:
        raise BadIndex(source, number, f"{message[:40]!r} is not a message number")
    if not element or not level:
        raise BadIndex(source, number, "the line has no element or no level")
    return _NoaaLine(
        line=number,
        number=int(found[1]),
        sub=int(found[2] or 0),
        offset=_noaa_offset(source, number, offset),
        reference=_noaa_reference(source, number, date),
        element=element,
        level=level,
        window=window,
        extra=":".join(extra).rstrip(":"),
    )


def _noaa_offset(source: str, number: int, text: str) -> int:
    if text.startswith("-"):
        raise BadIndex(source, number, f"a negative offset, {text[:30]}: written by a tool with 32-bit offsets")
    if not re.fullmatch(r"[0-9]{1,30}", text):
        raise BadIndex(source, number, f"{text[:30]!r} is not an offset")
    if int(text) > LARGEST_OFFSET:
        raise BadIndex(source, number, f"an offset of {text} is beyond any file")
    return int(text)


def _noaa_reference(source: str, number: int, text: str) -> datetime:
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


def _noaa_ends(source: str, lines: list[_NoaaLine], size: int | None) -> dict[int, int | None]:
    """The end of each message: the start of the next one, or the end of the file."""
    ends: dict[int, int | None] = {}
    before: _NoaaLine | None = None
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


@dataclass(frozen=True, slots=True)
class _EcmwfLine:
    line: int
    offset: int
    length: int
    reference: datetime | None
    values: dict[str, str]


def parse_ecmwf(data: bytes, source: str, run: datetime | None = None, size: int | None = None) -> Inventory:
    """The entries of an index, by offset. Raises BadIndex for other files, other runs and contradictory lines."""
    lines = [_ecmwf_line(source, number, text) for number, text in _numbered_lines(data, source)]
    for line in lines:
        if run is not None and line.reference != run:
            of = f"of {line.reference:%Y-%m-%d %H} UTC" if line.reference else "without a date"
            raise WrongRun(source, line.line, f"this is {of}, not of the run {run:%Y-%m-%d %H}")
    lines.sort(key=lambda line: (line.offset, line.line))
    _check_order(source, lines, size)
    entries: list[IndexEntry] = []
    number = 0
    for place, line in enumerate(lines):
        again = place > 0 and lines[place - 1].offset == line.offset
        shared = again or (place + 1 < len(lines) and lines[place + 1].offset == line.offset)
        number += not again
        sub = (entries[-1].sub + 1 if again else 1) if shared else 0
        entries.append(_ecmwf_entry(line, number, sub))
    return Inventory("ecmwf_index", source, tuple(entries))


def _ecmwf_entry(line: _EcmwfLine, number: int, sub: int) -> IndexEntry:
    values = line.values
    kind, member = values.get("type", ""), values.get("number", "")
    # Some lines of a control or of a single forecast state number 0.
    extra = kind if member in ("", "0") else f"{kind}:{member}"
    return IndexEntry(
        number=number,
        sub=sub,
        offset=line.offset,
        end=line.offset + line.length,
        reference=line.reference,
        element=values["param"],
        level=" ".join(filter(None, (values["levtype"], values.get("levelist", "")))),
        window=values["step"],
        extra=extra,
    )


def _ecmwf_line(source: str, number: int, text: str) -> _EcmwfLine:
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise BadIndex(source, number, f"{text[:80]!r} is not a JSON object")
    values = {key: _word(value) for key, value in found.items() if not key.startswith("_")}
    if not all(value.isprintable() for value in values.values()):  # written as \n or \u001b in the line
        raise BadIndex(source, number, "a control character")
    missing = [key for key in NEEDED if not values.get(key)]
    if missing or "_offset" not in found or "_length" not in found:
        raise BadIndex(source, number, f"the line lacks {(missing or ['_offset and _length'])[0]}: not ECMWF's form")
    if "_path" in found:
        raise BadIndex(source, number, "the line points into another file (_path)")
    offset, length = (_count(source, number, key, found[key]) for key in ("_offset", "_length"))
    if length < SHORTEST_MESSAGE:
        raise BadIndex(source, number, f"a message of {length} bytes is too short")
    return _EcmwfLine(number, offset, length, _ecmwf_reference(source, number, values), values)


def _word(value: Any) -> str:
    """A value as text: strings in ECMWF's own files, numbers in some made by others."""
    return str(value)[:LONGEST_VALUE] if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _count(source: str, number: int, key: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= LARGEST_OFFSET:
        raise BadIndex(source, number, f"{key} is {str(value)[:30]}, not a count of bytes")
    return value


def _ecmwf_reference(source: str, number: int, values: dict[str, str]) -> datetime | None:
    date, time = values.get("date", ""), values.get("time", "")
    if not date and not time:
        return None
    invalid = BadIndex(source, number, f"date {date!r} and time {time!r} are not a valid time")
    if len(date) != 8 or len(time) > 4:
        raise invalid
    # `6` and `06` are hours, `600` is 06:00.
    time = time.zfill(2) + "00" if len(time) <= 2 else time.zfill(4)
    try:
        return datetime.strptime(date + time, "%Y%m%d%H%M").replace(tzinfo=UTC)
    except ValueError:
        raise invalid from None


def _check_order(source: str, lines: list[_EcmwfLine], size: int | None) -> None:
    if not lines:
        raise BadIndex(source, None, "the index is empty")
    for before, line in pairwise(lines):
        same = (before.offset, before.length) == (line.offset, line.length)
        if not same and line.offset < before.offset + before.length:
            raise BadIndex(source, line.line, f"the message at {line.offset} overlaps the one at {before.offset}")
    last = lines[-1]
    if size is not None and last.offset + last.length > size:
        reason = f"a message ends at {last.offset + last.length}, but the file has {size} bytes: the index is stale"
        raise BadIndex(source, last.line, reason)


def _numbered_lines(data: bytes, source: str) -> Iterator[tuple[int, str]]:
    """Yields the non-blank lines with their numbers, from 1. Raises BadIndex for anything but plain text."""
    if len(data) > INDEX_LIMIT_BYTES:
        raise BadIndex(source, None, f"an index of {len(data)} bytes is larger than {INDEX_LIMIT_BYTES}")
    if what := wrong_file(data[:LIMIT_LINE_CHARACTERS].lstrip(b" \t\r\n")):
        raise BadIndex(source, None, f"this is {what}, not an index")
    if b"\0" in data[:4096]:
        raise BadIndex(source, None, "this is binary, not an index")
    if not data.strip():
        raise BadIndex(source, None, "the index is empty")
    lines = data.split(b"\n")
    if len(lines) > LIMIT_LINES:
        raise BadIndex(source, None, f"the index has more than {LIMIT_LINES} lines")
    for number, line in enumerate(lines, 1):
        if len(line) > LIMIT_LINE_CHARACTERS:
            raise BadIndex(source, number, f"a line of {len(line)} characters")
        try:
            text = line.decode("ascii").strip()
        except UnicodeDecodeError:
            raise BadIndex(source, number, "a character that is not ASCII") from None
        if not text.isprintable():
            raise BadIndex(source, number, "a control character")
        if text:
            yield number, text
