"""Reading NPZ files that nobody vouches for: every size is checked before anything is inflated."""

from __future__ import annotations

import math
import os
import re
import stat
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from isal import igzip_lib, isal_zlib

from gribmill.tiles.errors import TileError
from gribmill.tiles.npz import CENTRAL, DEFLATED, END, LIMIT_BYTES, LOCAL, STORED, npy_header
from gribmill.tiles.segments import Segments, segments_of

LIMIT_MEMBERS = 4096  # a complete GFS file has 743 fields
LIMIT_MEMBER_BYTES = 2**30  # 268 million points: the largest published grid has 47 million
LIMIT_TOTAL_BYTES = 2**33
# No deflate stream can grow more than this (a match of 258 bytes takes at least two bits).
LIMIT_RATIO = 1032
LIMIT_DIRECTORY_BYTES = LIMIT_MEMBERS * 4096
LIMIT_COMMENT_BYTES = 2**16 - 1
ENCRYPTED_FLAG = 1
BUFFER_BYTES = 512  # headers are read by the handful, data in one piece: a larger buffer is filled in vain
DESCRIPTOR_FLAG = 8

MEMBER_NAME = re.compile(r"([A-Za-z0-9_][A-Za-z0-9_.-]{0,99})\.npy")
# What numpy.save writes for plain arrays, and nothing else: no code of a stranger is ever evaluated.
NPY_HEADER = re.compile(
    r"\{'descr': '([<>|=])([a-zA-Z])(\d{1,9})', 'fortran_order': (True|False), "
    r"'shape': \(((?:\d{1,10}, ?)*(?:\d{1,10})?)\), ?\} *\n"
)
INFLATE_ERRORS: Any = (igzip_lib.IsalError, EOFError, ValueError)
DTYPES = {"f": {4, 8}, "i": {1, 2, 4, 8}, "u": {1, 2, 4, 8}, "b": {1}}


@dataclass(frozen=True, slots=True)
class Entry:
    """One member as the ZIP directory describes it."""

    name: str
    method: int
    crc: int
    packed_size: int
    raw_size: int
    offset: int
    extra: bytes = b""

    @property
    def segments(self) -> Segments | None:
        """Where one may begin to read, if its writer left word of it."""
        return segments_of(self.extra, self.raw_size, self.packed_size) if self.method == DEFLATED else None


class Archive:
    """An NPZ file: its directory is read and checked at once, arrays when they are asked for."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        with self._open() as file:
            self._identity = _identity(file)
            self.entries = _directory(file, self._identity[1], self.path)

    def __contains__(self, name: object) -> bool:
        return name in self.entries

    @property
    def size(self) -> int:
        """The size of the file in bytes."""
        return self._identity[1]

    def read(self, name: str) -> np.ndarray[Any, Any]:
        """One array; its checksum, declared size and shape must all agree."""
        if name not in self.entries:
            raise TileError(f"{self.path} holds no array {name}")
        entry = self.entries[name]
        with self._open() as file:
            if _identity(file) != self._identity:
                raise TileError(f"{self.path} was replaced while it was open; open it again")
            packed = _packed_bytes(file, entry, self.path)
        return _array(_inflate(packed, entry, self.path), entry, self.path)

    def read_rows(
        self, names: Sequence[str], shape: tuple[int, int], dtypes: Sequence[Any], first: int, stop: int
    ) -> dict[str, np.ndarray[Any, Any]]:
        """Some rows of arrays of this shape; only the stretches that hold them are read, where that is possible."""
        found = {}
        with self._open() as file:
            if _identity(file) != self._identity:
                raise TileError(f"{self.path} was replaced while it was open; open it again")
            for name, dtype in zip(names, map(np.dtype, dtypes), strict=True):
                if name not in self.entries:
                    raise TileError(f"{self.path} holds no array {name}")
                found[name] = _rows(file, self.entries[name], self.path, shape, dtype, slice(first, stop))
        return found

    def _open(self) -> BinaryIO:
        try:
            # Non-blocking, so that a named pipe in a tile's place cannot hold the reader up for ever.
            descriptor = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise TileError(f"{self.path} cannot be read: {reason}") from None
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise TileError(f"{self.path} is not a file")
        return os.fdopen(descriptor, "rb", BUFFER_BYTES)


def _identity(file: BinaryIO) -> tuple[int, int, int]:
    facts = os.fstat(file.fileno())
    return facts.st_ino, facts.st_size, facts.st_mtime_ns


def _directory(file: BinaryIO, size: int, path: Path) -> dict[str, Entry]:
    count, start, length = _end_record(file, size, path)
    file.seek(start)
    data = file.read(length)
    entries: dict[str, Entry] = {}
    position = 0
    for _ in range(count):
        entry, position = _central_entry(data, position, path)
        if entry.name in entries:
            raise TileError(f"{path} holds two arrays named {entry.name}: it is not a tile")
        entries[entry.name] = entry
    if position != len(data):
        raise TileError(f"{path} is damaged: its directory does not add up")
    _check_layout(entries, start, path)
    return entries


def _end_record(file: BinaryIO, size: int, path: Path) -> tuple[int, int, int]:
    """(members, start, length) of the directory; it must end exactly where the end record begins."""
    if size < END.size:
        raise TileError(f"{path} is not a tile: {size} bytes are too few")
    if size > LIMIT_BYTES:
        raise TileError(f"{path} has {size} bytes: a tile has less than 4 GiB")
    file.seek(max(0, size - END.size - LIMIT_COMMENT_BYTES))
    tail = file.read(END.size + LIMIT_COMMENT_BYTES)
    at = tail.rfind(b"PK\5\6")
    if at < 0 or at + END.size > len(tail):
        raise TileError(f"{path} is not a tile, or its end is missing")
    _, disk, first_disk, here, count, length, start, comment = END.unpack_from(tail, at)
    end_at = size - len(tail) + at
    if disk or first_disk or here != count or end_at + END.size + comment != size:
        raise TileError(f"{path} is damaged: its end record does not fit the file")
    if count > LIMIT_MEMBERS or length > LIMIT_DIRECTORY_BYTES:
        raise TileError(f"{path} declares {count} arrays, more than a tile may hold ({LIMIT_MEMBERS})")
    if start + length != end_at:
        raise TileError(f"{path} is damaged or truncated: its directory is not where it should be")
    return count, start, length


def _central_entry(data: bytes, position: int, path: Path) -> tuple[Entry, int]:
    if position + CENTRAL.size > len(data):
        raise TileError(f"{path} is damaged: its directory is cut short")
    (signature, _, _, flags, method, _, _, crc, packed, raw, name_size, extra, comment, _, _, _, offset) = (
        CENTRAL.unpack_from(data, position)
    )
    start = position + CENTRAL.size
    name = _member_name(data[start : start + name_size], path)
    if signature != b"PK\1\2" or flags & ENCRYPTED_FLAG or method not in (STORED, DEFLATED):
        raise TileError(f"{path}: array {name} is stored in a way that no tile uses")
    if raw > LIMIT_MEMBER_BYTES:
        raise TileError(f"{path}: array {name} declares {raw} bytes, more than {LIMIT_MEMBER_BYTES}")
    if raw > packed * LIMIT_RATIO or (method == STORED and raw != packed):
        raise TileError(f"{path}: array {name} declares {raw} bytes, impossible from {packed}")
    after_name = start + name_size
    entry = Entry(name, method, crc, packed, raw, offset, data[after_name : after_name + extra])
    return entry, after_name + extra + comment


def _member_name(raw: bytes, path: Path) -> str:
    match = MEMBER_NAME.fullmatch(raw.decode("latin-1"))
    if match is None:
        raise TileError(f"{path} holds a member named {raw[:60]!r}: that is no array of a tile")
    return match[1]


def _check_layout(entries: dict[str, Entry], directory_start: int, path: Path) -> None:
    """Members must not overlap (one deflate stream shared by many members is a bomb)."""
    if sum(entry.raw_size for entry in entries.values()) > LIMIT_TOTAL_BYTES:
        raise TileError(f"{path} declares more than {LIMIT_TOTAL_BYTES} bytes of arrays")
    free_from = 0
    for entry in sorted(entries.values(), key=lambda item: item.offset):
        if entry.offset < free_from:
            raise TileError(f"{path} is damaged: its arrays overlap")
        free_from = entry.offset + LOCAL.size + len(entry.name) + len(".npy") + entry.packed_size
    if free_from > directory_start:
        raise TileError(f"{path} is damaged: its arrays reach into its directory")


def _rows(
    file: BinaryIO, entry: Entry, path: Path, shape: tuple[int, int], dtype: np.dtype[Any], rows: slice
) -> np.ndarray[Any, Any]:
    segments = entry.segments
    start = len(npy_header(dtype, shape))
    width = shape[1] * dtype.itemsize
    if segments is None or entry.raw_size != start + shape[0] * width:
        whole = _array(_inflate(_packed_bytes(file, entry, path), entry, path), entry, path)
        if whole.dtype != dtype or whole.shape != shape:
            raise TileError(f"{path}: {entry.name} is {whole.dtype}{whole.shape}, not {dtype}{shape}")
        return whole[rows]
    begin, end = start + rows.start * width, start + rows.stop * width
    numbers, packed_begin, packed_end = segments.stretch(begin, end)
    file.seek(_data_start(file, entry, path) + packed_begin)
    try:
        raw = segments.inflate(numbers, file.read(packed_end - packed_begin), entry.raw_size)
    except INFLATE_ERRORS as error:
        raise TileError(f"{path} is damaged in array {entry.name}: {error}") from None
    if raw is None:
        raise TileError(f"{path} is damaged in array {entry.name}: its checksum is wrong")
    offset = begin - numbers[0] * segments.span
    return np.frombuffer(raw, dtype, (end - begin) // dtype.itemsize, offset).reshape(-1, shape[1])


def _packed_bytes(file: BinaryIO, entry: Entry, path: Path) -> bytes:
    file.seek(_data_start(file, entry, path))
    data = file.read(entry.packed_size)
    if len(data) != entry.packed_size:
        raise TileError(f"{path} is truncated in array {entry.name}")
    return data


def _data_start(file: BinaryIO, entry: Entry, path: Path) -> int:
    """Where the array's bytes begin, after its own header, which must agree with the directory."""
    file.seek(entry.offset)
    header = file.read(LOCAL.size)
    if len(header) != LOCAL.size:
        raise TileError(f"{path} is truncated before array {entry.name}")
    signature, _, flags, method, _, _, crc, packed, raw, name_size, extra = LOCAL.unpack(header)
    name = file.read(name_size)
    plain = not flags & DESCRIPTOR_FLAG and LIMIT_BYTES not in (packed, raw)
    if (
        signature != b"PK\3\4"
        or name != f"{entry.name}.npy".encode()
        or method != entry.method
        or flags & ENCRYPTED_FLAG
        or (plain and (crc, packed, raw) != (entry.crc, entry.packed_size, entry.raw_size))
    ):
        raise TileError(f"{path} is damaged: array {entry.name} and the directory disagree")
    return entry.offset + LOCAL.size + int(name_size) + int(extra)


def _inflate(packed: bytes, entry: Entry, path: Path) -> bytes:
    raw = packed
    if entry.method == DEFLATED:
        inflater = isal_zlib.decompressobj(-15)
        try:
            raw = inflater.decompress(packed, max_length=entry.raw_size + 1)
        except INFLATE_ERRORS as error:
            raise TileError(f"{path} is damaged in array {entry.name}: {error}") from None
        if not inflater.eof or inflater.unused_data or inflater.unconsumed_tail:
            raise TileError(f"{path} is damaged in array {entry.name}: its data do not end where they should")
    if len(raw) != entry.raw_size:
        raise TileError(f"{path}: array {entry.name} holds {len(raw)} bytes, {entry.raw_size} were declared")
    if isal_zlib.crc32(raw) != entry.crc:
        raise TileError(f"{path} is damaged in array {entry.name}: its checksum is wrong")
    return raw


def _array(raw: bytes, entry: Entry, path: Path) -> np.ndarray[Any, Any]:
    dtype, fortran, shape, start = _npy_header(raw, entry, path)
    if math.prod(shape) * dtype.itemsize != len(raw) - start:
        raise TileError(f"{path}: array {entry.name} declares shape {shape}, which its data do not fill")
    order = shape[::-1] if fortran else shape
    array = np.frombuffer(raw, dtype, offset=start).reshape(order)
    # A copy, so that callers get an array of their own, writable and in this machine's byte order.
    return np.array(array.T if fortran else array, dtype=dtype.newbyteorder("="), order="C")


def _npy_header(raw: bytes, entry: Entry, path: Path) -> tuple[np.dtype[Any], bool, tuple[int, ...], int]:
    where = f"{path}: array {entry.name}"
    version = raw[6:8]
    width = {b"\1\0": 2, b"\2\0": 4}.get(version, 0)
    if raw[:6] != b"\x93NUMPY" or not width or len(raw) < 8 + width:
        raise TileError(f"{where} is not an .npy array")
    (length,) = struct.unpack_from("<H" if width == 2 else "<I", raw, 8)
    start = 8 + width + length
    match = NPY_HEADER.fullmatch(raw[8 + width : start].decode("latin-1")) if length <= 4096 else None
    if match is None or start > len(raw):
        raise TileError(f"{where} is not a plain array (Python objects and records are refused)")
    order, kind, size, fortran, sizes = match.groups()
    if kind != "S" and int(size) not in DTYPES.get(kind, set()):
        raise TileError(f"{where} has elements of type {kind}{size}, which no tile holds")
    if kind == "S" and int(size) > len(raw):
        raise TileError(f"{where} declares text longer than its data")
    shape = tuple(int(part) for part in sizes.replace(" ", "").split(",") if part)
    if len(shape) > 4:
        raise TileError(f"{where} has {len(shape)} dimensions, a tile's array at most four")
    return np.dtype(f"{order}{kind}{size}"), fortran == "True", shape, start
