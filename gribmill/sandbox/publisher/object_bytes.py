"""The bytes of an object as they are served: a file's own, or others that a fault put in their place."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from gribmill.sandbox.publisher.byte_range import ByteSpan
from gribmill.sandbox.publisher.folder import Folder, Stored, version_of

CHUNK_BYTES = 1 << 18


class Content(Protocol):
    """One version of an object."""

    @property
    def size(self) -> int:
        """In bytes."""

    @property
    def modified(self) -> datetime:
        """When it was written."""

    def etag(self) -> str:
        """A strong tag of exactly these bytes."""

    def read(self, span: ByteSpan) -> Iterator[bytes]:
        """The bytes in pieces; fewer where a file shrank meanwhile."""


@dataclass(frozen=True, slots=True)
class FileContent:
    """A file as it lies in the folder."""

    folder: Folder
    stored: Stored

    @property
    def size(self) -> int:
        return self.stored.size

    @property
    def modified(self) -> datetime:
        return self.stored.modified

    def etag(self) -> str:
        return self.folder.etag(self.stored)

    def read(self, span: ByteSpan) -> Iterator[bytes]:
        left = span.length
        with self.stored.path.open("rb") as file:
            if version_of(os.fstat(file.fileno())) != self.stored.version:
                return  # replaced since its ETag was told: better nothing than bytes of another version
            file.seek(span.start)
            while left > 0 and (chunk := file.read(min(left, CHUNK_BYTES))):
                left -= len(chunk)
                yield chunk


@dataclass(frozen=True, slots=True)
class BytesContent:
    """Bytes in memory."""

    data: bytes
    modified: datetime

    @property
    def size(self) -> int:
        return len(self.data)

    def etag(self) -> str:
        return f'"{hashlib.md5(self.data, usedforsecurity=False).hexdigest()}"'

    def read(self, span: ByteSpan) -> Iterator[bytes]:
        for place in range(span.start, span.end, CHUNK_BYTES):
            yield self.data[place : min(place + CHUNK_BYTES, span.end)]
