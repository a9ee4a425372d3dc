"""Index files for tests, made from plain rows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any


def noaa_lines(rows: Iterable[str], date: str = "2025080100", size: int = 1000) -> bytes:
    """Numbered lines of `ELEMENT:LEVEL:TIME[:EXTRA]`, every message `size` bytes long."""
    return "".join(f"{n + 1}:{n * size}:d={date}:{row}\n" for n, row in enumerate(rows)).encode()


def noaa_messages(messages: Sequence[tuple[int, Sequence[str]]], date: str = "2025080100") -> bytes:
    """Messages of (length, rows): several rows are the fields of one message, as N.1, N.2."""
    lines: list[str] = []
    offset = 0
    for number, (length, rows) in enumerate(messages, 1):
        for sub, row in enumerate(rows, 1):
            label = f"{number}.{sub}" if len(rows) > 1 else str(number)
            lines.append(f"{label}:{offset}:d={date}:{row}\n")
        offset += length
    return "".join(lines).encode()


def ecmwf_line(name: str | None, offset: int = 0, length: int = 1000, **keys: Any) -> str:
    """One line as ECMWF writes it; a key given as None is left out."""
    row: dict[str, Any] = {"domain": "g", "date": "20250301", "time": "0000", "expver": "0001", "class": "od"}
    row |= {"type": "fc", "stream": "oper", "step": "6", "levtype": "sfc", "param": name}
    row |= {"_offset": offset, "_length": length, **keys}
    return json.dumps({key: value for key, value in row.items() if value is not None}) + "\n"
