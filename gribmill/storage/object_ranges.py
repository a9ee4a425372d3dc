"""Reads parts of one object: nearby parts in one request, with read-ahead data kept until released."""

from __future__ import annotations

from collections.abc import Iterable

from gribmill.storage.bucket import ObjectStatus
from gribmill.storage.errors import StorageError
from gribmill.storage.object_path import ObjectPath

# A request takes about as long as transferring this many bytes.
GAP_BYTES = 2**20
# Objects of this size are read in one request, and kept.
SMALL_BYTES = 2**18
TAIL_BYTES = 2**16
# Begin and end.
ByteSpan = tuple[int, int]
# The offset, and the bytes.
FetchedPart = tuple[int, memoryview]


class ObjectRanges:
    """Reads an object by `ranges(length, offset)`, like os.pread. All bytes are from the version read first."""

    def __init__(self, path: ObjectPath) -> None:
        self.path = path
        small = path.listed is not None and path.listed.st_size <= SMALL_BYTES
        tail, self.status = path.read_tail(SMALL_BYTES if small else TAIL_BYTES)
        self._parts: list[FetchedPart] = [(self.size - len(tail), memoryview(tail))]
        self._whole = len(tail) == self.size

    @property
    def size(self) -> int:
        return self.status.st_size

    def __call__(self, length: int, offset: int) -> bytes:
        """The bytes at `offset`; fewer than `length` at the end of the object."""
        begin, end = min(offset, self.size), min(offset + length, self.size)
        if end <= begin:
            return b""
        return self._kept(begin, end) or bytes(self._request(begin, end))

    def fetch(self, spans: Iterable[ByteSpan]) -> list[FetchedPart]:
        """Read these parts ahead, nearby ones in one request; returns what was read."""
        limited = ((max(0, begin), min(end, self.size)) for begin, end in spans)
        wanted = [(begin, end) for begin, end in limited if begin < end and self._kept(begin, end) is None]
        read = [(begin, self._request(begin, end)) for begin, end in merged(wanted)]
        self._parts += read
        return read

    def release(self, read: list[FetchedPart] | None = None) -> None:
        """Discard all data read, or only these parts, except a small object that was read whole."""
        if not self._whole:
            self._parts = (
                [] if read is None else [one for one in self._parts if all(one is not other for other in read)]
            )

    def _kept(self, begin: int, end: int) -> bytes | None:
        for start, data in self._parts:
            if start <= begin and end <= start + len(data):
                return bytes(data[begin - start : end - start])
        return None

    def _request(self, begin: int, end: int) -> memoryview:
        data = self.path.read_range(begin, end, self.status.etag)
        if len(data) != end - begin:
            raise StorageError(f"{self.path}: {len(data)} bytes arrived instead of {end - begin}")
        return data

    def __getstate__(self) -> tuple[ObjectPath, ObjectStatus]:
        return self.path, self.status

    def __setstate__(self, state: tuple[ObjectPath, ObjectStatus]) -> None:
        self.path, self.status = state
        self._parts, self._whole = [], False


def merged(spans: Iterable[ByteSpan], gap: int = GAP_BYTES) -> list[ByteSpan]:
    """The spans in order, joined if the gap between them is small."""
    found: list[ByteSpan] = []
    for begin, end in sorted(spans):
        if found and begin - found[-1][1] <= gap:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((begin, end))
    return found
