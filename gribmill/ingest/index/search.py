"""Searches the lines of an index with a regular expression."""

from __future__ import annotations

import re
from collections.abc import Collection

from gribmill.errors import GribmillError
from gribmill.ingest.index.entry import ByteRange, IndexEntry, Inventory
from gribmill.ingest.index.select import Selection

LONGEST_PATTERN = 1000


class BadSearch(GribmillError):
    """The search is not a valid regular expression."""


def compile_search(text: str) -> re.Pattern[str]:
    """The compiled regular expression, which may match anywhere in a line."""
    if not text or len(text) > LONGEST_PATTERN:
        raise BadSearch(f"a search has 1 to {LONGEST_PATTERN} characters")
    try:
        return re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise BadSearch(f"{text[:80]!r} is not a regular expression: {error}") from None


def line_text(kind: str, entry: IndexEntry) -> str:
    """The text of an entry that searches are matched against, in the form that Herbie uses.

    NOAA: `:TMP:2 m above ground:6 hour fcst:`. ECMWF: `:t:850:pl:6:fc:`, with parameter, level, type of level, step,
    and type (and member).
    """
    parts = [entry.element, entry.level, entry.window, entry.extra]
    if kind == "ecmwf_index":
        levtype, _, level = entry.level.partition(" ")
        parts = [entry.element, level, levtype, entry.window, entry.extra]
    return f":{':'.join(part for part in parts if part)}:"


def searchable(inventory: Inventory, extras: Collection[str]) -> list[IndexEntry]:
    """The entries that belong to the model: an ECMWF index lists all members."""
    if inventory.kind == "noaa_idx":
        return list(inventory.entries)
    return [entry for entry in inventory.entries if entry.extra in extras]


def select_lines(inventory: Inventory, pattern: re.Pattern[str], extras: Collection[str] = ("",)) -> Selection:
    """The messages of all matching lines, for any time in the file."""
    lines: dict[str, IndexEntry] = {}
    entries: list[IndexEntry] = []
    for entry in searchable(inventory, extras):
        text = line_text(inventory.kind, entry)
        if pattern.search(text):
            entries.append(entry)
            lines.setdefault(text.strip(":"), entry)
    ranges = dict.fromkeys(ByteRange(entry.offset, entry.end) for entry in entries)
    return Selection(tuple(ranges), tuple(entries), lines, (), {})
