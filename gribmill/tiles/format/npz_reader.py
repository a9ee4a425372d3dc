"""Reads untrusted NPZ files: verifies sizes and checksums, and the shapes of arrays that are read whole."""

from __future__ import annotations

import math
import os
import re
import stat
import struct
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import deflate
import numpy as np
from isal import isal_zlib

from gribmill.storage.bucket import ObjectStatus
from gribmill.storage.errors import ChangedObject
from gribmill.storage.object_path import ObjectPath, StoredPath, stored_path
from gribmill.storage.object_ranges import ByteSpan, ObjectRanges
from gribmill.tiles.errors import TileError
from gribmill.tiles.format.npz_writer import npy_header
from gribmill.tiles.format.restart_points import (
    INFLATE_ERRORS,
    Raw,
    RestartPoints,
    Segment,
    inflate_segments,
    parse_restart_points,
    segments_between,
)
from gribmill.tiles.format.zip_directory import (
    DEFLATED,
    ENCRYPTED_FLAG,
    LIMIT_BYTES,
    LIMIT_RATIO,
    LOCAL,
    Pread,
    ZipEntry,
    read_directory,
)

DESCRIPTOR_FLAG = 8
LIMIT_HEADER_BYTES = 4096
# Inode (or ETag), size and modification time, which differ for a replaced file.
Identity = tuple[int | str, int, int]

# Headers as written by numpy.save for plain arrays. Nothing else is accepted, and nothing is evaluated.
NPY_HEADER = re.compile(
    r"\{'descr': '([<>|=])([a-zA-Z])(\d{1,9})', 'fortran_order': (True|False), "
    r"'shape': \(((?:\d{1,10}, ?)*(?:\d{1,10})?)\), ?\} *\n"
)
DTYPES = {"f": {4, 8}, "i": {1, 2, 4, 8}, "u": {1, 2, 4, 8}, "b": {1}}


class ArrayLocation(NamedTuple):
    """The offset of an array in the file, and its restart points."""

    entry: ZipEntry
    start: int
    points: RestartPoints | None


class Archive:
    """An NPZ file. Its directory is read and checked when it is opened, arrays on demand."""

    def __init__(self, path: str | os.PathLike[str] | ObjectPath) -> None:
        self.path = stored_path(path)
        self.identity: Identity | None = None
        self._ranges = _object_ranges(self.path) if isinstance(self.path, ObjectPath) else None
        with self._open() as pread:
            self.entries = read_directory(pread, self.size, self.path)
        if self._ranges is not None:
            self._ranges.release()
        self._places: dict[str, ArrayLocation] = {}

    def __contains__(self, name: object) -> bool:
        return name in self.entries

    @property
    def size(self) -> int:
        """The size of the file in bytes."""
        return self.identity[1] if self.identity else 0

    @property
    def remote(self) -> bool:
        """Whether it is in an object store, where each read is a request."""
        return self._ranges is not None

    def member_spans(self, names: Iterable[str]) -> list[ByteSpan]:
        """The byte ranges of whole arrays."""
        return [_member_span(self.entries[name]) for name in names if name in self.entries]

    def part_spans(
        self, names: Iterable[str], shape: tuple[int, int], dtype: np.dtype[Any], begin: int, end: int
    ) -> list[ByteSpan]:
        """The byte ranges that `read_span` would read with these arguments."""
        found: list[ByteSpan] = []
        for name in names:
            if name not in self.entries or self._ranges is None:
                continue
            place = self._place(self._ranges, name)
            segments = self._segments(place, shape, dtype, begin, end)
            found += [(place.start + one.begin, place.start + one.end) for one in segments]
            found += [] if segments else [_member_span(place.entry)]
        return found

    def read_ahead(self, spans: Iterable[ByteSpan]) -> None:
        """In an object store, read these bytes in as few requests as possible, and keep them until `release`."""
        if self._ranges is not None:
            with self._open():
                self._ranges.fetch(spans)

    def release(self) -> None:
        """Discard the bytes that were read ahead."""
        if self._ranges is not None:
            self._ranges.release()

    def read(self, name: str, *, copy: bool = True) -> np.ndarray[Any, Any]:
        """One array, after checking its checksum, size and shape. Without `copy` it may be read-only."""
        with self._open() as pread:
            whole = self._whole(pread, self._place(pread, name))
        return np.require(whole, requirements=("C", "W")) if copy else whole

    def read_span(
        self, names: Sequence[str], shape: tuple[int, int], dtype: np.dtype[Any], begin: int, end: int
    ) -> dict[str, np.ndarray[Any, Any]]:
        """The elements from `begin` to `end`, in row order, of arrays of this shape and type.

        With restart points, only the segments that contain them are read. The array's size is then checked, but not
        its header: only gribmill writes restart points, and all its arrays are little-endian and in C order.
        """
        first = _header_size(dtype, shape) + begin * dtype.itemsize
        found: dict[str, np.ndarray[Any, Any]] = {}
        parted: list[tuple[ArrayLocation, list[Segment]]] = []
        with self._open() as pread:
            for name in names:
                place = self._place(pread, name)
                segments = self._segments(place, shape, dtype, begin, end)
                if segments:
                    parted.append((place, segments))
                    continue
                whole = self._whole(pread, place)
                if whole.dtype != dtype or whole.shape != shape:
                    raise TileError(f"{self.path}: {name} is {whole.dtype}{whole.shape}, not {dtype}{shape}")
                found[name] = whole.reshape(-1)[begin:end]
            raws = self._parts(pread, parted)
        for (place, segments), raw in zip(parted, raws, strict=True):
            found[place.entry.name] = np.frombuffer(raw, dtype, end - begin, first - segments[0].raw_begin)
        return found

    @staticmethod
    def _segments(
        place: ArrayLocation, shape: tuple[int, int], dtype: np.dtype[Any], begin: int, end: int
    ) -> list[Segment]:
        """The segments that contain the elements from `begin` to `end`; empty if the array must be read whole."""
        header = _header_size(dtype, shape)
        if place.entry.raw_size != header + shape[0] * shape[1] * dtype.itemsize:
            return []
        first, stop = header + begin * dtype.itemsize, header + end * dtype.itemsize
        return segments_between(place.entry, place.points, first, stop)

    def _whole(self, pread: Pread, place: ArrayLocation) -> np.ndarray[Any, Any]:
        entry, points = place.entry, place.points
        packed = pread(entry.packed_size, place.start)
        if len(packed) != entry.packed_size:
            raise TileError(f"{self.path} is truncated in array {entry.name}")
        raw = _inflate_whole(packed, entry) if points and entry.method == DEFLATED else None
        if raw is not None and isal_zlib.crc32(raw) == entry.crc:
            return _array(raw, entry, self.path)
        return _array(_inflate(packed, entry, self.path), entry, self.path)

    def _parts(self, pread: Pread, parted: list[tuple[ArrayLocation, list[Segment]]]) -> list[Raw]:
        """The raw bytes of some segments of each array, inflated in one call."""
        places = [(place, segment) for place, segments in parted for segment in segments]
        spans = [(place.start + segment.begin, place.start + segment.end) for place, segment in places]
        ahead = pread.fetch(spans) if isinstance(pread, ObjectRanges) else None
        streams = [pread(end - begin, begin) for begin, end in spans]
        if isinstance(pread, ObjectRanges) and ahead:
            pread.release(ahead)
        raws = inflate_segments(streams, [segment for _, segment in places])
        found: dict[str, list[Raw]] = {}
        for (place, _), raw in zip(places, raws, strict=True):
            if raw is None:
                raise TileError(f"{self.path} is damaged in array {place.entry.name}: its checksum is wrong")
            found.setdefault(place.entry.name, []).append(raw)
        return [parts[0] if len(parts) == 1 else b"".join(parts) for parts in found.values()]

    def _place(self, pread: Pread, name: str) -> ArrayLocation:
        """The location of an array, cached."""
        if name not in self._places:
            if name not in self.entries:
                raise TileError(f"{self.path} has no array {name}")
            entry = self.entries[name]
            points = parse_restart_points(entry.extra, entry.raw_size)
            if points is not None and isinstance(pread, ObjectRanges):
                # The local header is not read: it would take another request, and the segments have checksums.
                start = _member_span(entry)[1] - entry.packed_size
            else:
                start = _data_start(pread, entry, self.path)
            self._places[name] = ArrayLocation(entry, start, points)
        return self._places[name]

    @contextmanager
    def _open(self) -> Iterator[Pread]:
        """Opens the file. Raises TileError if it was replaced since the first time."""
        if self._ranges is not None:
            with _explained(self._ranges.path):
                self.identity = identity_of(self._ranges.status)
                yield self._ranges
            return
        assert isinstance(self.path, Path)
        try:
            # Non-blocking: a named pipe in place of a tile would block the reader forever.
            descriptor = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise TileError(f"{self.path} cannot be read: {reason}") from None
        try:
            facts = os.fstat(descriptor)
            if not stat.S_ISREG(facts.st_mode):
                raise TileError(f"{self.path} is not a file")
            if self.identity is None:
                self.identity = identity_of(facts)
            elif self.identity != identity_of(facts):
                raise TileError(f"{self.path} was replaced while it was open; open it again")
            yield partial(os.pread, descriptor)
        finally:
            os.close(descriptor)


def identity_of(facts: os.stat_result | ObjectStatus) -> Identity:
    """The identity of a file, which changes if the file is replaced."""
    if isinstance(facts, ObjectStatus):
        return facts.etag or "", facts.st_size, 0 if facts.etag else round(facts.st_mtime * 1e9)
    return facts.st_ino, facts.st_size, facts.st_mtime_ns


def _object_ranges(path: ObjectPath) -> ObjectRanges:
    with _explained(path):
        return ObjectRanges(path)


@contextmanager
def _explained(path: ObjectPath) -> Iterator[None]:
    """Raises TileError if an object is gone or was replaced; errors of the store itself pass through."""
    try:
        yield
    except FileNotFoundError:
        raise TileError(f"{path} cannot be read: there is no such object") from None
    except ChangedObject:
        raise TileError(f"{path} was replaced while it was open; open it again") from None


def _member_span(entry: ZipEntry) -> ByteSpan:
    """The byte range of a member, if its local header has no extra field, as written by gribmill."""
    return entry.offset, entry.offset + LOCAL.size + len(entry.name) + len(".npy") + entry.packed_size


@lru_cache(maxsize=64)
def _header_size(dtype: np.dtype[Any], shape: tuple[int, int]) -> int:
    return len(npy_header(dtype, shape))


def _data_start(pread: Pread, entry: ZipEntry, path: StoredPath) -> int:
    """The offset of the array's bytes after its local header, which must agree with the directory."""
    name = f"{entry.name}.npy".encode()
    header = pread(LOCAL.size + len(name), entry.offset)
    if len(header) != LOCAL.size + len(name):
        raise TileError(f"{path} is truncated before array {entry.name}")
    signature, _, flags, method, _, _, crc, packed, raw, name_size, extra = LOCAL.unpack_from(header)
    plain = not flags & DESCRIPTOR_FLAG and LIMIT_BYTES not in (packed, raw)
    if (
        signature != b"PK\3\4"
        or name_size != len(name)
        or header[LOCAL.size :] != name
        or method != entry.method
        or flags & ENCRYPTED_FLAG
        or (plain and (crc, packed, raw) != (entry.crc, entry.packed_size, entry.raw_size))
    ):
        raise TileError(f"{path} is damaged: array {entry.name} and the directory disagree")
    return entry.offset + LOCAL.size + len(name) + int(extra)


def _inflate_whole(packed: bytes, entry: ZipEntry) -> bytes | bytearray | None:
    """Inflates a whole array with libdeflate, which is a fifth faster than ISA-L; None if the stream is damaged.

    It does not detect bytes after the end of the stream, so it is used only for arrays with restart points.
    """
    if entry.raw_size > LIMIT_RATIO * entry.packed_size:
        return None
    try:
        raw: bytes | bytearray = deflate.deflate_decompress(packed, entry.raw_size)
    except deflate.DeflateError:
        return None
    return raw


def _inflate(packed: bytes, entry: ZipEntry, path: StoredPath) -> bytes:
    raw = packed
    if entry.method == DEFLATED:
        inflater = isal_zlib.decompressobj(-15)
        try:
            raw = inflater.decompress(packed, max_length=entry.raw_size + 1)
        except INFLATE_ERRORS as error:
            raise TileError(f"{path} is damaged in array {entry.name}: {error}") from None
        if not inflater.eof or inflater.unused_data or inflater.unconsumed_tail:
            raise TileError(f"{path} is damaged in array {entry.name}: its deflate stream does not end with its data")
    if len(raw) != entry.raw_size:
        raise TileError(f"{path}: array {entry.name} has {len(raw)} bytes, {entry.raw_size} were declared")
    if isal_zlib.crc32(raw) != entry.crc:
        raise TileError(f"{path} is damaged in array {entry.name}: its checksum is wrong")
    return raw


def _array(raw: Raw | bytearray, entry: ZipEntry, path: StoredPath) -> np.ndarray[Any, Any]:
    dtype, fortran, shape, start = _npy_header(bytes(raw[:LIMIT_HEADER_BYTES]), len(raw), entry, path)
    if math.prod(shape) * dtype.itemsize != len(raw) - start:
        raise TileError(f"{path}: array {entry.name} declares shape {shape}, which its data do not fill")
    order = shape[::-1] if fortran else shape
    try:
        array = np.frombuffer(raw, dtype, offset=start).reshape(order)
    except ValueError as error:  # such as a length that NumPy cannot count
        raise TileError(f"{path}: array {entry.name} declares shape {shape}: {error}") from None
    return (array.T if fortran else array).astype(dtype.newbyteorder("="), copy=False)


def _npy_header(
    raw: bytes, size: int, entry: ZipEntry, path: StoredPath
) -> tuple[np.dtype[Any], bool, tuple[int, ...], int]:
    where = f"{path}: array {entry.name}"
    version = raw[6:8]
    width = {b"\1\0": 2, b"\2\0": 4}.get(version, 0)
    if raw[:6] != b"\x93NUMPY" or not width or len(raw) < 8 + width:
        raise TileError(f"{where} is not an .npy array")
    (length,) = struct.unpack_from("<H" if width == 2 else "<I", raw, 8)
    start = 8 + width + length
    match = NPY_HEADER.fullmatch(raw[8 + width : start].decode("latin-1")) if start <= len(raw) else None
    if match is None:
        raise TileError(f"{where} is not a plain array (Python objects and records are refused)")
    order, kind, width_text, fortran, sizes = match.groups()
    if kind != "S" and int(width_text) not in DTYPES.get(kind, set()):
        raise TileError(f"{where} has elements of type {kind}{width_text}, which no tile has")
    if kind == "S" and not int(width_text):
        raise TileError(f"{where} is empty text")
    if kind == "S" and int(width_text) > size:
        raise TileError(f"{where} declares text longer than its data")
    shape = tuple(int(part) for part in sizes.replace(" ", "").split(",") if part)
    if len(shape) > 4:
        raise TileError(f"{where} has {len(shape)} dimensions; arrays of tiles have at most four")
    return np.dtype(f"{order}{kind}{width_text}"), fortran == "True", shape, start
