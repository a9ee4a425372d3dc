"""The records of a ZIP file, and the directory of an untrusted NPZ file.

All sizes in the directory are checked before anything is inflated.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import NamedTuple

from gribmill.storage.object_path import StoredPath
from gribmill.tiles.errors import TileError

STORED, DEFLATED = 0, 8
# Local header, entry of the central directory, and end of the central directory.
LOCAL = struct.Struct("<4s5H3I2H")
CENTRAL = struct.Struct("<4s6H3I5H2I")
END = struct.Struct("<4s4H2IH")
# Larger sizes and offsets need ZIP64, which tiles do not use.
LIMIT_BYTES = 2**32 - 1

LIMIT_MEMBERS = 4096  # a complete GFS file has 743 fields
LIMIT_MEMBER_BYTES = 2**30  # 268 million points: the largest published grid has 47 million
LIMIT_TOTAL_BYTES = 2**33
# The maximum expansion of deflate (a match of 258 bytes takes at least two bits).
LIMIT_RATIO = 1032
LIMIT_DIRECTORY_BYTES = LIMIT_MEMBERS * 4096
LIMIT_COMMENT_BYTES = 2**16 - 1
TAIL_BYTES = 2**13  # usually contains the whole directory
ENCRYPTED_FLAG = 1

# Reads a number of bytes from an offset.
Pread = Callable[[int, int], bytes]
MEMBER_NAME = re.compile(rb"([A-Za-z0-9_][A-Za-z0-9_.-]{0,99})\.npy")


class ZipEntry(NamedTuple):
    """One member as the ZIP directory describes it."""

    name: str
    method: int
    crc: int
    packed_size: int
    raw_size: int
    offset: int
    extra: bytes = b""

    @property
    def content(self) -> tuple[int, int, int, int]:
        """Identifies its bytes: entries with equal content have the same bytes unless damaged."""
        return self.method, self.crc, self.packed_size, self.raw_size


def read_directory(pread: Pread, size: int, path: StoredPath) -> dict[str, ZipEntry]:
    """All members of the open file, by name. Raises TileError for any inconsistency."""
    tail = pread(TAIL_BYTES, max(0, size - TAIL_BYTES))
    if b"PK\5\6" not in tail and size > TAIL_BYTES:
        most = END.size + LIMIT_COMMENT_BYTES
        tail = pread(most, max(0, size - most))
    count, start, length = _end_record(tail, size, path)
    tail_start = size - len(tail)
    data = tail[start - tail_start : start - tail_start + length] if start >= tail_start else pread(length, start)
    entries: dict[str, ZipEntry] = {}
    position = 0
    for _ in range(count):
        entry, position = _central_entry(data, position, path)
        if entry.name in entries:
            raise TileError(f"{path} has two arrays named {entry.name}: it is not a tile")
        entries[entry.name] = entry
    if position != len(data):
        raise TileError(f"{path} is damaged: its directory has a wrong length")
    _check_layout(entries, start, path)
    return entries


def _end_record(tail: bytes, size: int, path: StoredPath) -> tuple[int, int, int]:
    """(members, start, length) of the directory, which must end where the end record starts."""
    if size < END.size:
        raise TileError(f"{path} is not a tile: {size} bytes are too short")
    if size > LIMIT_BYTES:
        raise TileError(f"{path} has {size} bytes: tiles are smaller than 4 GiB")
    at = tail.rfind(b"PK\5\6")
    if at < 0 or at + END.size > len(tail):
        raise TileError(f"{path} is not a tile, or its end is missing")
    _, disk, first_disk, here, count, length, start, comment = END.unpack_from(tail, at)
    end_at = size - len(tail) + at
    if disk or first_disk or here != count or end_at + END.size + comment != size:
        raise TileError(f"{path} is damaged: its end record does not fit the file")
    if count > LIMIT_MEMBERS or length > LIMIT_DIRECTORY_BYTES:
        raise TileError(f"{path} declares {count} arrays, more than a tile may have ({LIMIT_MEMBERS})")
    if start + length != end_at:
        raise TileError(f"{path} is damaged or truncated: its directory is not where it should be")
    return count, start, length


def _central_entry(data: bytes, position: int, path: StoredPath) -> tuple[ZipEntry, int]:
    if position + CENTRAL.size > len(data):
        raise TileError(f"{path} is damaged: its directory is cut short")
    (signature, _, _, flags, method, _, _, crc, packed, raw, name_size, extra, comment, _, _, _, offset) = (
        CENTRAL.unpack_from(data, position)
    )
    start = position + CENTRAL.size
    after_name = start + name_size
    match = MEMBER_NAME.fullmatch(data, start, after_name)
    if match is None:
        raise TileError(f"{path} has a member named {data[start:after_name][:60]!r}, which is not an array of a tile")
    name = match[1].decode()
    if signature != b"PK\1\2" or flags & ENCRYPTED_FLAG or method not in (STORED, DEFLATED):
        raise TileError(f"{path}: array {name} is stored in a way that tiles do not use")
    if raw > LIMIT_MEMBER_BYTES:
        raise TileError(f"{path}: array {name} declares {raw} bytes, more than {LIMIT_MEMBER_BYTES}")
    if raw > packed * LIMIT_RATIO or (method == STORED and raw != packed):
        raise TileError(f"{path}: array {name} declares {raw} bytes, impossible from {packed}")
    after_extra = after_name + extra
    return ZipEntry(name, method, crc, packed, raw, offset, data[after_name:after_extra]), after_extra + comment


def _check_layout(entries: dict[str, ZipEntry], directory_start: int, path: StoredPath) -> None:
    """Members must not overlap (one deflate stream shared by many members is a zip bomb)."""
    if sum(entry.raw_size for entry in entries.values()) > LIMIT_TOTAL_BYTES:
        raise TileError(f"{path} declares more than {LIMIT_TOTAL_BYTES} bytes of arrays")
    free_from = 0
    for entry in sorted(entries.values(), key=lambda item: item.offset):
        if entry.offset < free_from:
            raise TileError(f"{path} is damaged: its arrays overlap")
        free_from = entry.offset + LOCAL.size + len(entry.name) + len(".npy") + entry.packed_size
    if free_from > directory_start:
        raise TileError(f"{path} is damaged: its arrays reach into its directory")
