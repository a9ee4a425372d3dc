"""Index files for tests, made from rows of text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from gribmill.sandbox.forecast import index_lines


def noaa_lines(rows: Iterable[str], date: str = "2025080100", size: int = 1000) -> bytes:
    """Numbered lines of `ELEMENT:LEVEL:TIME[:EXTRA]`, every message `size` bytes long."""
    return noaa_messages([(size, [row]) for row in rows], date)


def noaa_messages(messages: Iterable[tuple[int, Sequence[str]]], date: str = "2025080100") -> bytes:
    """Messages of (length, rows): several rows are the fields of one message, as N.1, N.2."""
    placed, offset = [], 0
    for length, rows in messages:
        placed.append((offset, rows))
        offset += length
    return "".join(f"{line}\n" for line in index_lines.noaa_lines(placed, date)).encode()


def ecmwf_line(name: str | None, offset: int = 0, length: int = 1000, **keys: Any) -> str:
    """One line as ECMWF writes it; a key given as None is left out."""
    row: dict[str, Any] = {"domain": "g", "date": "20250301", "time": "0000", "expver": "0001", "class": "od"}
    row |= {"type": "fc", "stream": "oper", "step": "6", "levtype": "sfc", "param": name}
    row |= {"_offset": offset, "_length": length, **keys}
    return json.dumps({key: value for key, value in row.items() if value is not None}) + "\n"
