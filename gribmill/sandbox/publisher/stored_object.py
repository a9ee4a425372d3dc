"""Objects and their stores: the interface between the HTTP service and the source of its bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from gribmill.sandbox.publisher.byte_range import ByteSpan

CHUNK_BYTES = 1 << 18


class StoredObject(Protocol):
    """One version of an object."""

    @property
    def key(self) -> str:
        """Its path in the store."""

    @property
    def size(self) -> int:
        """Its size in bytes."""

    @property
    def modified(self) -> datetime:
        """When it was written, in whole seconds, as in HTTP."""

    @property
    def etag(self) -> str:
        """An entity tag for exactly these bytes."""

    def read(self, span: ByteSpan) -> Iterator[bytes]:
        """The bytes in chunks; fewer than requested if a file shrank meanwhile."""


class ObjectStore(Hashable, Protocol):
    """Objects by key. Threads may share it."""

    def find(self, key: str) -> StoredObject | None:
        """The object with that key."""

    def is_folder(self, key: str) -> bool:
        """Whether keys below this one can exist; the empty key is the store itself."""

    def walk(self, prefix: str) -> Iterator[StoredObject]:
        """All objects whose key starts with the prefix, in byte order of the keys, as in S3."""

    def names(self, key: str) -> Sequence[tuple[str, StoredObject | None]]:
        """The entries of one folder: objects, and None for folders."""


@dataclass(slots=True)
class BytesObject:
    """An object in memory. Without an explicit tag, it has the same one as in S3."""

    key: str
    data: bytes
    modified: datetime
    etag: str = ""

    def __post_init__(self) -> None:
        self.etag = self.etag or f'"{hashlib.md5(self.data, usedforsecurity=False).hexdigest()}"'

    @property
    def size(self) -> int:
        return len(self.data)

    def read(self, span: ByteSpan) -> Iterator[bytes]:
        for place in range(span.start, span.end, CHUNK_BYTES):
            yield self.data[place : min(place + CHUNK_BYTES, span.end)]


def read_whole(stored: StoredObject) -> bytes:
    """All bytes of an object."""
    return b"".join(stored.read(ByteSpan(0, stored.size)))
