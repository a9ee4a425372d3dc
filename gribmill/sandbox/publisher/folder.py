"""A folder as a store of objects: keys are paths below it, and no key leads out of it."""

from __future__ import annotations

import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from stat import S_ISREG
from typing import NamedTuple

from gribmill.sandbox.errors import SandboxError
from gribmill.sandbox.publisher.byte_range import ByteSpan
from gribmill.sandbox.publisher.stored_object import CHUNK_BYTES

LONGEST_KEY = 1024  # as in S3
MOST_TAGS = 100_000
HASH_CHUNK_BYTES = 1 << 20


class Version(NamedTuple):
    """Changes when a file is rewritten."""

    size: int
    modified_ns: int
    inode: int


@dataclass(frozen=True, slots=True)
class FileObject:
    """A file in a served folder."""

    folder: Folder
    key: str
    path: Path
    version: Version

    @property
    def size(self) -> int:
        return self.version.size

    @property
    def modified(self) -> datetime:
        return datetime.fromtimestamp(self.version.modified_ns // 1_000_000_000, UTC)

    @property
    def etag(self) -> str:
        return self.folder.etag(self)

    def read(self, span: ByteSpan) -> Iterator[bytes]:
        left = span.length
        with self.path.open("rb") as file:
            if _version(os.fstat(file.fileno())) != self.version:
                return  # replaced since its ETag was sent: no bytes are better than bytes of another version
            file.seek(span.start)
            while left > 0 and (chunk := file.read(min(left, CHUNK_BYTES))):
                left -= len(chunk)
                yield chunk


class Folder:
    """A folder as a store. Threads may share it. Names that start with a dot are unfinished files, and are hidden."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        if not self.root.is_dir():
            raise SandboxError(f"there is no folder {root}")
        self._tags: OrderedDict[tuple[str, Version], str] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, key: str) -> FileObject | None:
        """The object with that key; None if there is none, or it is outside the folder."""
        path = self._path(key)
        if path is None or key.endswith("/"):
            return None
        try:
            facts = path.stat()
        except OSError:
            return None
        if not S_ISREG(facts.st_mode):
            return None
        return FileObject(self, key, path, _version(facts))

    def is_folder(self, key: str) -> bool:
        """Whether it is a folder; the empty key is the root."""
        path = self._path(key.rstrip("/"))
        return path is not None and path.is_dir()

    def walk(self, prefix: str) -> Iterator[FileObject]:
        """All objects whose key starts with the prefix, in byte order of the keys, as in S3."""
        start = prefix.rpartition("/")[0]
        if self._path(start) is None:
            return
        yield from self._walk(f"{start}/" if start else "", prefix)

    def names(self, key: str) -> list[tuple[str, FileObject | None]]:
        """The entries of one folder: objects, and None for folders."""
        above = f"{key}/" if key else ""
        return [(name.removeprefix(above).rstrip("/"), stored) for name, stored in self._in(above)]

    def etag(self, stored: FileObject) -> str:
        """The MD5 of the content, like S3's ETag; computed once for each version of a file."""
        version = stored.key, stored.version
        with self._lock:
            if version in self._tags:
                return self._tags[version]
        digest = hashlib.md5(usedforsecurity=False)
        with stored.path.open("rb") as file:
            while chunk := file.read(HASH_CHUNK_BYTES):
                digest.update(chunk)
        with self._lock:
            self._tags[version] = tag = f'"{digest.hexdigest()}"'
            if len(self._tags) > MOST_TAGS:
                self._tags.popitem(last=False)
        return tag

    def _walk(self, folder: str, prefix: str) -> Iterator[FileObject]:
        for key, stored in self._in(folder):
            if stored is None and (key.startswith(prefix) or prefix.startswith(key)):
                yield from self._walk(key, prefix)
            elif stored is not None and key.startswith(prefix):
                yield stored

    def _in(self, folder: str) -> list[tuple[str, FileObject | None]]:
        """The keys of one folder in byte order; keys of folders end with a slash."""
        try:
            with os.scandir(self.root / folder) as entries:
                keys = [folder + entry.name for entry in entries]
        except OSError:
            return []
        found: list[tuple[str, FileObject | None]] = []
        for key in keys:
            stored = self.find(key)
            if stored is not None:
                found.append((key, stored))
            elif self.is_folder(key):
                found.append((f"{key}/", None))
        return sorted(found, key=lambda row: os.fsencode(row[0]))

    def _path(self, key: str) -> Path | None:
        """The path of a key; None for invalid keys and keys outside the folder."""
        if not key:
            return self.root
        parts = key.split("/")
        hidden = any(part.startswith(".") or not part or not part.isprintable() for part in parts)
        if hidden or len(key) > LONGEST_KEY or "\\" in key:
            return None
        path = self.root.joinpath(*parts)
        try:
            return path if path.resolve().is_relative_to(self.root) else None
        except (OSError, RuntimeError, ValueError):
            return None


def _version(facts: os.stat_result) -> Version:
    return Version(facts.st_size, facts.st_mtime_ns, facts.st_ino)
