"""NPZ files as tiles use them: a ZIP of .npy members, written in one pass with the same bytes every time."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from isal import isal_zlib

from gribmill.tiles.atomic import write_atomic
from gribmill.tiles.errors import TileError
from gribmill.tiles.stream import Stream, deflate_bytes, deflate_words

Encoding = Literal["fast", "compact", "stored"]
ENCODINGS: tuple[Encoding, ...] = get_args(Encoding)

STORED, DEFLATED = 0, 8
VERSION_NEEDED = 20
# 1 January 1980, 00:00, the first moment that ZIP knows: a tile's bytes must not tell when it was written.
DOS_TIME, DOS_DATE = 0, 0x21
UNIX_FILE_0644 = 0o100644 << 16
MADE_BY_UNIX = 3 << 8 | VERSION_NEEDED
LOCAL = struct.Struct("<4s5H3I2H")
CENTRAL = struct.Struct("<4s6H3I5H2I")
END = struct.Struct("<4s4H2IH")
# 32-bit sizes and offsets: beyond them ZIP needs its 64-bit form, which a tile never should.
LIMIT_BYTES = 2**32 - 1
LIMIT_MEMBERS = 2**16 - 1
# libdeflate's levels for `compact`: the higher one is twice as slow, and for half of all fields hardly smaller. A
# sample of a large array tells: it must save so much of the raw bytes.
LOW_LEVEL, HIGH_LEVEL = 4, 6
SAMPLE_BYTES = 2**14
SAMPLED_BYTES = 16 * SAMPLE_BYTES
WORTH_ITS_TIME = 0.0075


@dataclass(frozen=True, slots=True)
class Member:
    """One compressed array, ready to be put into an archive."""

    name: str
    method: int
    crc: int
    raw_size: int
    data: bytes | bytearray | memoryview
    # For the ZIP directory: where one may begin to read.
    extra: bytes = b""


def member(name: str, array: np.ndarray[Any, Any], encoding: Encoding = "fast") -> Member:
    """Compress `array` under `name`. Arrays of Python objects are refused: they would need pickle."""
    if array.dtype.hasobject:
        raise TileError(f"array {name} holds Python objects, which a tile never does")
    body = np.asarray(array, order="C")
    header = npy_header(body.dtype, body.shape)
    raw_size = len(header) + body.nbytes
    if raw_size > LIMIT_BYTES:
        raise TileError(f"array {name} takes {raw_size} bytes: a tile's array must stay below 4 GiB")
    view = body.reshape(-1).view(np.uint8).data if body.size else memoryview(b"")
    if encoding == "fast" and body.size:
        stream = _stream(header, body, view)
        if len(stream.data) < raw_size:
            extra = stream.segments.extra() if len(stream.segments.checksums) > 1 else b""
            return Member(name, DEFLATED, stream.crc, raw_size, stream.data, extra)
        return Member(name, STORED, stream.crc, raw_size, header + view.tobytes())
    crc = isal_zlib.crc32(view, isal_zlib.crc32(header))
    packed = _deflate(header, view, encoding) if body.size else None
    if packed is None or len(packed) >= raw_size:
        return Member(name, STORED, crc, raw_size, header + view.tobytes())
    return Member(name, DEFLATED, crc, raw_size, packed)


def archive(members: Iterable[Member]) -> list[bytes | bytearray | memoryview]:
    """The pieces of the ZIP file, members sorted by name: the same members give the same bytes."""
    ordered = sorted(members, key=lambda item: item.name)
    if len({item.name for item in ordered}) != len(ordered):
        raise TileError("two arrays of one tile have the same name")
    if len(ordered) > LIMIT_MEMBERS:
        raise TileError(f"{len(ordered)} arrays are more than one tile can hold ({LIMIT_MEMBERS})")
    pieces: list[bytes | bytearray | memoryview] = []
    directory: list[bytes] = []
    offset = 0
    for item in ordered:
        file_name = f"{item.name}.npy".encode()
        _check_room(offset + LOCAL.size + len(file_name) + len(item.data))
        facts = (item.method, DOS_TIME, DOS_DATE, item.crc, len(item.data), item.raw_size, len(file_name))
        pieces += [LOCAL.pack(b"PK\3\4", VERSION_NEEDED, 0, *facts, 0) + file_name, item.data]
        more = (len(item.extra), 0, 0, 0, UNIX_FILE_0644, offset)
        entry = CENTRAL.pack(b"PK\1\2", MADE_BY_UNIX, VERSION_NEEDED, 0, *facts, *more)
        directory.append(entry + file_name + item.extra)
        offset += LOCAL.size + len(file_name) + len(item.data)
    size = sum(map(len, directory))
    _check_room(offset + size + END.size)
    end = END.pack(b"PK\5\6", 0, 0, len(directory), len(directory), size, offset, 0)
    return [*pieces, *directory, end]


def write_npz(path: Path, arrays: dict[str, np.ndarray[Any, Any]], encoding: Encoding = "fast") -> int:
    """Write `arrays` to `path` atomically; returns the size in bytes."""
    return write_atomic(path, archive([member(name, array, encoding) for name, array in arrays.items()]))


@lru_cache(maxsize=256)
def npy_header(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """The .npy header, version 1.0, written here so that its bytes do not depend on the NumPy release."""
    descr = np.lib.format.dtype_to_descr(dtype)
    text = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape!r}, }}"
    padding = -(10 + len(text) + 1) % 64
    body = (text + " " * padding + "\n").encode("latin-1")
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(body)) + body


def _stream(header: bytes, body: np.ndarray[Any, Any], view: memoryview) -> Stream:
    found = deflate_words(header, view) if body.dtype == np.float32 else None
    return found or deflate_bytes(header, view)


def _deflate(header: bytes, view: memoryview, encoding: Encoding) -> bytes | bytearray | None:
    if encoding == "stored":
        return None
    if encoding == "compact":
        import deflate

        compressed: bytes | bytearray = deflate.deflate_compress(header + view, _level(view))
        return compressed
    raise TileError(f"encoding {encoding!r} is unknown; choose one of {', '.join(ENCODINGS)}")


def _level(view: memoryview) -> int:
    import deflate

    if len(view) < SAMPLED_BYTES:
        return HIGH_LEVEL
    middle = len(view) // 2 // 16 * 16
    sample = bytes(view[middle : middle + SAMPLE_BYTES])
    low, high = (len(deflate.deflate_compress(sample, level)) for level in (LOW_LEVEL, HIGH_LEVEL))
    return HIGH_LEVEL if low - high > WORTH_ITS_TIME * SAMPLE_BYTES else LOW_LEVEL


def _check_room(size: int) -> None:
    if size > LIMIT_BYTES:
        raise TileError("a tile of more than 4 GiB is refused: cut smaller regions or fewer variables")
