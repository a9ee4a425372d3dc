"""A file repacked by its publisher: the same messages in another order, with the index of either edition."""

from __future__ import annotations

import json

from gribmill.grib.messages import walk

STALE_BYTES = 4096


def rotate_messages(data: bytes) -> tuple[bytes, dict[int, int]]:
    """The file with its first message moved to the end, and the new offset of each old one."""
    messages = list(walk(data, "the file"))
    order = messages[1:] + messages[:1]
    places: dict[int, int] = {}
    parts: list[bytes] = []
    place = 0
    for message in order:
        places[message.offset] = place
        parts.append(data[message.offset : message.offset + message.length])
        place += message.length
    return b"".join(parts), places


def rotated_index(index: bytes, places: dict[int, int]) -> bytes:
    """The index of the rotated file."""
    rows = sorted((places.get(offset, offset), line) for offset, line in _lines(index))
    texts: list[str] = []
    number, before = 0, -1
    for offset, line in rows:
        number += offset != before
        before = offset
        texts.append(_moved(line, offset, number))
    return "".join(f"{text}\n" for text in texts).encode()


def stale_index(index: bytes) -> bytes:
    """The index of an edition whose first message was longer: every later offset is wrong."""
    rows = _lines(index)
    first = min((offset for offset, _ in rows), default=0)
    moved = [_moved(line, offset + STALE_BYTES * (offset > first)) for offset, line in rows]
    return "".join(f"{text}\n" for text in moved).encode()


def _lines(index: bytes) -> list[tuple[int, str]]:
    lines = [line for line in index.decode().splitlines() if line.strip()]
    return [(_offset(line), line) for line in lines]


def _offset(line: str) -> int:
    return int(json.loads(line)["_offset"]) if line.startswith("{") else int(line.split(":", 2)[1])


def _moved(line: str, offset: int, number: int | None = None) -> str:
    if line.startswith("{"):
        return json.dumps({**json.loads(line), "_offset": offset})
    label, _, rest = line.split(":", 2)
    message, dot, sub = label.partition(".")
    return f"{message if number is None else number}{dot}{sub}:{offset}:{rest}"
