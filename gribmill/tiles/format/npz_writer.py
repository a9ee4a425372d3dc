"""Writes NPZ files (ZIP archives of .npy members) with reproducible bytes."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from operator import itemgetter
from typing import Any, Literal, NamedTuple, get_args

import deflate
import numpy as np
from isal import isal_zlib

from gribmill.kernel import native
from gribmill.storage.atomic import Check, write_atomic
from gribmill.storage.object_path import StoredPath
from gribmill.tiles.errors import TileError
from gribmill.tiles.format.restart_points import MOST_SEGMENTS, RestartPoints
from gribmill.tiles.format.zip_directory import CENTRAL, DEFLATED, END, LIMIT_BYTES, LIMIT_MEMBERS, LOCAL, STORED

Compression = Literal["fast", "compact", "stored"]
COMPRESSIONS: tuple[Compression, ...] = get_args(Compression)

# Minimum, maximum, sum, and count of missing points.
Summary = tuple[float, float, float, int]

VERSION_NEEDED = 20
# 1 January 1980, 00:00, the earliest time in ZIP: the bytes of a tile must not depend on when it was written.
DOS_TIME, DOS_DATE = 0, 0x21
UNIX_FILE_0644 = 0o100644 << 16
MADE_BY_UNIX = 3 << 8 | VERSION_NEEDED
# The kernel's modes (encode_array.h): matches of whole words for float32, runs only for differences of integers.
FAST_FLOATS, FAST_INTEGERS = range(2)
KERNEL_MODES: dict[tuple[Compression, np.dtype[Any]], int] = {
    ("fast", np.dtype(np.float32)): FAST_FLOATS,
    ("fast", np.dtype(np.uint16)): FAST_INTEGERS,
}
# Maximum size in bytes: bit positions have 32 bits.
LIMIT_KERNEL = 2**28 - 1
# libdeflate's levels for `compact`. The high level takes twice the time, and saves hardly anything for half of all
# fields. A large array uses it if it makes a sample smaller by the share LEAST_GAIN of its raw bytes; small arrays use
# the middle level.
LOW_LEVEL, MIDDLE_LEVEL, HIGH_LEVEL = 4, 5, 6
SAMPLE_BYTES = 2**14
SAMPLED_BYTES = 16 * SAMPLE_BYTES
LEAST_GAIN = 0.0075
BLOCK_BYTES = 2**16
ISAL_LEVEL = 2


@dataclass(frozen=True, slots=True)
class DeflateStream:
    """Deflated bytes, the CRC-32 of the raw bytes, and the restart points."""

    data: bytes
    crc: int
    points: RestartPoints


def deflate_restartable(header: bytes, body: memoryview) -> DeflateStream:
    """Compresses an array with ISA-L, with each segment in a separate block."""
    size = _segment_size(len(header) + len(body))
    if len(header) + len(body) <= size:
        return _deflate_at_once(header + body, size)
    compressor: Any = isal_zlib.compressobj(ISAL_LEVEL, isal_zlib.DEFLATED, -15)
    pieces = [compressor.compress(header)]
    begins = [0]
    for begin, end in pairwise(_cuts(header, body, size)):
        pieces.append(compressor.compress(body[begin:end]))
        pieces.append(compressor.flush(isal_zlib.Z_FINISH if end == len(body) else isal_zlib.Z_FULL_FLUSH))
        begins.append(begins[-1] + len(pieces[-2]) + len(pieces[-1]) + (len(pieces[0]) if begin == 0 else 0))
    checksums = list(_checksums(header, body, size))
    return DeflateStream(b"".join(pieces), checksums[-1], RestartPoints(size, size, begins[:-1], checksums))


def _deflate_at_once(raw: bytes, size: int) -> DeflateStream:
    """Compresses a single segment, in half the time and to two thirds of the size."""
    data = isal_zlib.compress(raw, ISAL_LEVEL, -15)
    crc = isal_zlib.crc32(raw)
    return DeflateStream(data, crc, RestartPoints(size, size, [0], [crc]))


def _segment_size(raw_size: int) -> int:
    """The size of a segment, doubled until there are at most MOST_SEGMENTS."""
    size = BLOCK_BYTES
    while raw_size > size * MOST_SEGMENTS:
        size *= 2
    return size


def _cuts(header: bytes, body: memoryview, size: int) -> Sequence[int]:
    """The boundaries of the segments in the body; the header belongs to the first segment."""
    return [0, *range(size - len(header), len(body), size), len(body)]


def _checksums(header: bytes, body: memoryview, size: int) -> Iterator[int]:
    crc: int = isal_zlib.crc32(header)
    for begin, end in pairwise(_cuts(header, body, size)):
        crc = isal_zlib.crc32(body[begin:end], crc)
        yield crc


class Member(NamedTuple):
    """One compressed array."""

    name: str
    method: int
    crc: int
    raw_size: int
    data: bytes | bytearray | memoryview
    # The extra field of the ZIP directory: restart points.
    extra: bytes = b""
    # Only for float32 values compressed by the kernel.
    summary: Summary | None = None


def encode_member(name: str, array: np.ndarray[Any, Any], compression: Compression = "fast") -> Member:
    """Compress an array. Raises TileError for Python objects, which would need pickle."""
    dtype = array.dtype
    if dtype.hasobject:
        raise TileError(f"array {name} has Python objects, which tiles do not store")
    body = np.asarray(array, order="C")
    header = npy_header(dtype, body.shape)
    raw_size = len(header) + body.nbytes
    if raw_size > LIMIT_BYTES:
        raise TileError(f"array {name} takes {raw_size} bytes: arrays of tiles must be smaller than 4 GiB")
    mode = KERNEL_MODES.get((compression, dtype))
    if mode is not None and len(header) < raw_size <= LIMIT_KERNEL and native.available():
        return Member(name, *native.encode_array(header, body, mode))
    view = body.reshape(-1).view(np.uint8).data if body.size else memoryview(b"")
    fast = compression == "fast" and body.size
    made = _restartable(name, header, view) if fast else _whole(name, header, view, compression)
    return made if len(made.data) < raw_size else Member(name, STORED, made.crc, raw_size, header + view.tobytes())


def zip_pieces(members: Iterable[Member]) -> list[bytes | bytearray | memoryview]:
    """The pieces of the ZIP file, with members sorted by name, so that equal members give equal bytes."""
    ordered = sorted(members, key=itemgetter(0))
    if len({item.name for item in ordered}) != len(ordered):
        raise TileError("two arrays of one tile have the same name")
    if len(ordered) > LIMIT_MEMBERS:
        raise TileError(f"{len(ordered)} arrays are more than one tile may have ({LIMIT_MEMBERS})")
    pieces: list[bytes | bytearray | memoryview] = []
    directory: list[bytes] = []
    offset = 0
    for name, method, crc, raw_size, data, extra, _ in ordered:
        file_name = f"{name}.npy".encode()
        entry = CENTRAL.pack(
            b"PK\1\2", MADE_BY_UNIX, VERSION_NEEDED, 0, method, DOS_TIME, DOS_DATE, crc, len(data), raw_size,
            len(file_name), len(extra), 0, 0, 0, UNIX_FILE_0644, offset,
        )  # fmt: skip
        # The local header repeats the fields from the version on; it has no extra field.
        pieces += (b"PK\3\4" + entry[6:30] + b"\0\0" + file_name, data)
        directory += (entry, file_name, extra)
        offset += LOCAL.size + len(file_name) + len(data)
        if offset > LIMIT_BYTES:
            break
    tail = b"".join(directory)
    if offset + len(tail) + END.size > LIMIT_BYTES:
        raise TileError("a tile of more than 4 GiB is refused: cut smaller regions or fewer variables")
    end = END.pack(b"PK\5\6", 0, 0, len(ordered), len(ordered), len(tail), offset, 0)
    return [*pieces, tail + end]


def write_npz(
    path: StoredPath,
    arrays: dict[str, np.ndarray[Any, Any]],
    compression: Compression = "fast",
    check: Check | None = None,
) -> int:
    """Write an NPZ file atomically and return its size in bytes. `check` may refuse to replace an existing file."""
    members = [encode_member(name, array, compression) for name, array in arrays.items()]
    return write_atomic(path, zip_pieces(members), check)


@lru_cache(maxsize=256)
def npy_header(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """The .npy header, version 1.0. Not written by NumPy, so that its bytes do not depend on NumPy's version."""
    descr = np.lib.format.dtype_to_descr(dtype)
    text = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape!r}, }}"
    padding = -(10 + len(text) + 1) % 64
    body = (text + " " * padding + "\n").encode("latin-1")
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(body)) + body


def _restartable(name: str, header: bytes, view: memoryview) -> Member:
    """A member compressed with ISA-L, with restart points."""
    stream = deflate_restartable(header, view)
    extra = stream.points.extra_field() if len(stream.points.checksums) > 1 else b""
    return Member(name, DEFLATED, stream.crc, len(header) + len(view), stream.data, extra)


def _whole(name: str, header: bytes, view: memoryview, compression: Compression) -> Member:
    """A member compressed with libdeflate, or stored."""
    raw = header + view
    crc = isal_zlib.crc32(raw)
    if compression == "compact" and view:
        return Member(name, DEFLATED, crc, len(raw), deflate.deflate_compress(raw, _level(view)))
    if compression not in COMPRESSIONS:
        raise TileError(f"compression {compression!r} is unknown; use one of {', '.join(COMPRESSIONS)}")
    return Member(name, STORED, crc, len(raw), raw)


def _level(view: memoryview) -> int:
    if len(view) < SAMPLED_BYTES:
        return MIDDLE_LEVEL
    middle = len(view) // 2 // 16 * 16
    sample = bytes(view[middle : middle + SAMPLE_BYTES])
    low, high = (len(deflate.deflate_compress(sample, level)) for level in (LOW_LEVEL, HIGH_LEVEL))
    return HIGH_LEVEL if low - high > LEAST_GAIN * SAMPLE_BYTES else LOW_LEVEL
