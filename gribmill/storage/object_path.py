"""Names in an object store, used like a pathlib.Path: s3://bucket/prefix/hrrr/latest.json."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from gribmill.errors import GribmillError, control_character, quoted
from gribmill.storage.bucket import Bucket, Condition, ObjectStatus, StoreOptions
from gribmill.storage.errors import ObjectStoreError

if TYPE_CHECKING:
    from gribmill.storage.object_client import ObjectClient

SCHEMES = ("s3", "gs", "az")
_URL = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<bucket>[^/]*)(?:/(?P<key>.*))?", re.DOTALL)
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,221}")
# S3's limit, in bytes of UTF-8.
LONGEST_KEY = 1024


@dataclass(frozen=True, slots=True, order=True)
class ObjectPath:
    """One object, or the prefix of many. It need not exist: only its methods send requests."""

    bucket: Bucket
    key: str
    # From a listing; requested if None.
    listed: ObjectStatus | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.bucket.url}/{self.key}".rstrip("/")

    def __truediv__(self, name: str) -> ObjectPath:
        return ObjectPath(self.bucket, f"{self.key}/{name}".lstrip("/"))

    @property
    def client(self) -> ObjectClient:
        # Imported late: most processes use no object store.
        from gribmill.storage.object_client import client_of

        return client_of(self.bucket)

    @property
    def name(self) -> str:
        return PurePosixPath(self.key).name

    @property
    def stem(self) -> str:
        return PurePosixPath(self.key).stem

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.key).suffix

    @property
    def parent(self) -> ObjectPath:
        return ObjectPath(self.bucket, self.key.rpartition("/")[0])

    def with_name(self, name: str) -> ObjectPath:
        return self.parent / name

    def absolute(self) -> ObjectPath:
        return self

    def stat(self) -> ObjectStatus:
        """Size, time and ETag, as listed or as they are now; FileNotFoundError if there is no such object."""
        return self.listed or self.client.head(self.key)

    def exists(self) -> bool:
        return self.is_file()

    def is_file(self) -> bool:
        """Whether there is an object of this name."""
        return self.now() is not None

    def read_bytes(self) -> bytes:
        return self.read()[0]

    def read(self) -> tuple[bytes, ObjectStatus]:
        """The whole object, and its status."""
        return self.client.read(self.key)

    def read_range(self, begin: int, end: int, etag: str | None = None) -> memoryview:
        """The bytes from `begin` to `end`; ChangedObject if it no longer has this ETag."""
        return self.client.read_range(self.key, begin, end, etag)

    def read_tail(self, size: int) -> tuple[bytes, ObjectStatus]:
        """Its last bytes and its status, in one request."""
        return self.client.read_tail(self.key, size)

    def write(self, chunks: list[bytes | bytearray | memoryview], condition: Condition = None) -> None:
        """Write the whole object; ChangedObject if the condition does not hold."""
        self.client.write(self.key, chunks, condition)

    def now(self) -> ObjectStatus | None:
        """Its status, requested again; None if there is no such object."""
        try:
            return self.client.head(self.key)
        except FileNotFoundError:
            return None

    def unlink(self, missing_ok: bool = False) -> None:
        """Remove the object. Stores do not report whether it existed."""
        self.client.remove([self.key])

    def children(self) -> tuple[list[str], dict[str, ObjectStatus]]:
        """The names directly below this prefix: further prefixes, and objects with their status."""
        return self.client.children(self.key)

    def below(self) -> Iterator[tuple[ObjectPath, ObjectStatus]]:
        """Every object below this prefix."""
        for key, status in self.client.below(self.key):
            yield ObjectPath(self.bucket, key, status), status

    def remove_below(self) -> None:
        """Remove every object below this prefix.

        Some stores (SeaweedFS) keep empty folders and list them: they are removed by name, deepest first. In other
        stores this does nothing.
        """
        keys = [path.key for path, _ in self.below()]
        self.client.remove(keys)
        folders = {key.rpartition("/")[0] for key in keys}
        while further := {parent for key in folders if (parent := key.rpartition("/")[0])} - folders:
            folders |= further
        for key in sorted(folders | {self.key}, key=len, reverse=True):
            if key.startswith(f"{self.key}/") or key == self.key:
                self.client.remove([key])

    def as_listed(self, status: ObjectStatus) -> ObjectPath:
        return replace(self, listed=status)


# A file or folder, local or in an object store.
StoredPath = Path | ObjectPath


def is_url(text: object) -> bool:
    """Whether a text is the URL of an object store rather than a path."""
    return isinstance(text, str) and "://" in text


def object_path(url: str, options: StoreOptions | None = None) -> ObjectPath:
    """Parse the URL of an object or prefix; raises ObjectStoreError for any other text."""
    match = _URL.fullmatch(url)
    if match is None or match["scheme"] not in SCHEMES:
        schemes = ", ".join(f"{scheme}://" for scheme in SCHEMES)
        raise ObjectStoreError(f"{quoted(url)} is not the URL of an object store: it must begin with one of {schemes}")
    if not _BUCKET.fullmatch(match["bucket"]):
        raise ObjectStoreError(f"{quoted(url)} has no valid bucket: write {match['scheme']}://BUCKET/PREFIX")
    key = (match["key"] or "").strip("/")
    if control_character(key) or "\n" in key or any(part in ("", ".", "..") for part in key.split("/") if key):
        raise ObjectStoreError(f"{quoted(url)} has an empty or relative part, or a control character, after the bucket")
    if len(key.encode()) > LONGEST_KEY:
        raise ObjectStoreError(f"{quoted(url)} is longer than object stores allow ({LONGEST_KEY} bytes)")
    return ObjectPath(Bucket(f"{match['scheme']}://{match['bucket']}", options or StoreOptions.found()), key)


def stored_path(path: object) -> StoredPath:
    """A path or URL as given by a user."""
    if isinstance(path, Path | ObjectPath):
        return path
    if isinstance(path, str):
        return object_path(path) if is_url(path) else Path(path)
    try:
        return Path(path)  # type: ignore[arg-type]  # os.PathLike
    except TypeError:
        raise GribmillError(f"{quoted(path)} is neither a path nor a URL") from None
