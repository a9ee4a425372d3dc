"""A folder as a store of objects: keys are paths below it, and none leads out of it."""

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

from gribmill.sandbox.errors import MirrorError

LONGEST_KEY = 1024  # as S3 has it
MOST_TAGS = 100_000
HASH_CHUNK_BYTES = 1 << 20


class Version(NamedTuple):
    """What changes when a file is written anew."""

    size: int
    modified_ns: int
    inode: int


@dataclass(frozen=True, slots=True)
class Stored:
    """One object: its key, where it lies, and what tells this version from another."""

    key: str
    path: Path
    version: Version

    @property
    def size(self) -> int:
        """In bytes."""
        return self.version.size

    @property
    def modified(self) -> datetime:
        """In whole seconds, as HTTP tells times."""
        return datetime.fromtimestamp(self.version.modified_ns // 1_000_000_000, UTC)


class Folder:
    """Threads may share it. Names that begin with a dot are files still being written, and not shown."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        if not self.root.is_dir():
            raise MirrorError(f"there is no folder {root}")
        self._tags: OrderedDict[tuple[str, Version], str] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, key: str) -> Stored | None:
        """The object of that key; None where there is none, or it lies outside."""
        path = self._path(key)
        if path is None or key.endswith("/"):
            return None
        try:
            facts = path.stat()
        except OSError:
            return None
        if not S_ISREG(facts.st_mode):
            return None
        return Stored(key, path, version_of(facts))

    def is_folder(self, key: str) -> bool:
        """Whether keys lie below it; the empty key is the folder itself."""
        path = self._path(key.rstrip("/"))
        return path is not None and path.is_dir()

    def walk(self, prefix: str) -> Iterator[Stored]:
        """Every object whose key begins with the prefix, in the order of the keys' bytes, as S3 lists."""
        start = prefix.rpartition("/")[0]
        if self._path(start) is None:
            return
        yield from self._walk(f"{start}/" if start else "", prefix)

    def names(self, key: str) -> list[tuple[str, Stored | None]]:
        """What lies in one folder, by name: objects, and None for folders."""
        above = f"{key}/" if key else ""
        return [(name.removeprefix(above).rstrip("/"), stored) for name, stored in self._in(above)]

    def etag(self, stored: Stored) -> str:
        """A strong tag made of the content, as S3 makes it; read once for each version of a file."""
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

    def _walk(self, folder: str, prefix: str) -> Iterator[Stored]:
        for key, stored in self._in(folder):
            if stored is None and (key.startswith(prefix) or prefix.startswith(key)):
                yield from self._walk(key, prefix)
            elif stored is not None and key.startswith(prefix):
                yield stored

    def _in(self, folder: str) -> list[tuple[str, Stored | None]]:
        """The keys of one folder in the order of their bytes; those of folders end with a slash."""
        try:
            with os.scandir(self.root / folder) as entries:
                keys = [folder + entry.name for entry in entries]
        except OSError:
            return []
        found: list[tuple[str, Stored | None]] = []
        for key in keys:
            stored = self.find(key)
            if stored is not None:
                found.append((key, stored))
            elif self.is_folder(key):
                found.append((f"{key}/", None))
        return sorted(found, key=lambda row: os.fsencode(row[0]))

    def _path(self, key: str) -> Path | None:
        """Where a key lies; None for keys that are none, or that lead out of the folder by any way."""
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


def version_of(facts: os.stat_result) -> Version:
    """Of a file as the system describes it."""
    return Version(facts.st_size, facts.st_mtime_ns, facts.st_ino)
