"""Parses ECMWF's .index files: one JSON object per line, with `_offset` and `_length`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from gribmill.ingest.errors import BadIndex, WrongRun
from gribmill.ingest.index.entry import LARGEST_OFFSET, SHORTEST_MESSAGE, IndexEntry, Inventory, numbered_lines

NEEDED = ("param", "levtype", "step")
LONGEST_VALUE = 100


@dataclass(frozen=True, slots=True)
class _Line:
    line: int
    offset: int
    length: int
    reference: datetime | None
    values: dict[str, str]


def parse_ecmwf(data: bytes, source: str, run: datetime | None = None, size: int | None = None) -> Inventory:
    """The entries of an index, by offset. Raises BadIndex for other files, other runs and contradictory lines."""
    lines = [_read(source, number, text) for number, text in numbered_lines(data, source)]
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
        entries.append(_entry(line, number, sub))
    return Inventory("ecmwf_index", source, tuple(entries))


def _entry(line: _Line, number: int, sub: int) -> IndexEntry:
    values = line.values
    kind, member = values.get("type", ""), values.get("number", "")
    return IndexEntry(
        number=number,
        sub=sub,
        offset=line.offset,
        end=line.offset + line.length,
        reference=line.reference,
        element=values["param"],
        level=" ".join(filter(None, (values["levtype"], values.get("levelist", "")))),
        window=values["step"],
        extra=f"{kind}:{member}" if member else kind,
    )


def _read(source: str, number: int, text: str) -> _Line:
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
    return _Line(number, offset, length, _reference(source, number, values), values)


def _word(value: Any) -> str:
    """A value as text: strings in ECMWF's own files, numbers in some made by others."""
    return str(value)[:LONGEST_VALUE] if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _count(source: str, number: int, key: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= LARGEST_OFFSET:
        raise BadIndex(source, number, f"{key} is {str(value)[:30]}, not a count of bytes")
    return value


def _reference(source: str, number: int, values: dict[str, str]) -> datetime | None:
    date, time = values.get("date", ""), values.get("time", "")
    if not date and not time:
        return None
    invalid = BadIndex(source, number, f"date {date!r} and time {time!r} are not a valid time")
    if len(date) != 8 or len(time) > 4:
        raise invalid
    try:
        return datetime.strptime(date + time.zfill(4), "%Y%m%d%H%M").replace(tzinfo=UTC)
    except ValueError:
        raise invalid from None


def _check_order(source: str, lines: list[_Line], size: int | None) -> None:
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
