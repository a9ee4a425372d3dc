"""The objects of one bucket as Google Cloud Storage documents them: generations, preconditions, listings, uploads."""

from __future__ import annotations

import base64
import hashlib
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from threading import RLock
from xml.sax.saxutils import escape

MOST_LISTED = 1000
SMALLEST_PART = 5 * 2**20


class Refused(Exception):
    """An error response: its status and the code of its XML document."""

    def __init__(self, status: int, code: str) -> None:
        super().__init__(f"{status} {code}")
        self.status, self.code = status, code


@dataclass(frozen=True, slots=True)
class StoredObject:
    data: bytes
    generation: int
    etag: str
    modified: float = field(default_factory=time.time)


@dataclass
class GoogleBucket:
    """Every method is one atomic step."""

    public: bool = False
    objects: dict[str, StoredObject] = field(default_factory=dict)
    uploads: dict[str, tuple[str, dict[int, bytes]]] = field(default_factory=dict)
    lock: RLock = field(default_factory=RLock)
    # Google's are microseconds too; here none occurs twice.
    generations: Iterator[int] = field(default_factory=lambda: count(time.time_ns() // 1000))

    def get(self, key: str) -> StoredObject:
        with self.lock:
            if key not in self.objects:
                raise Refused(404, "NoSuchKey")
            return self.objects[key]

    def put(self, key: str, data: bytes, generation: int | None) -> StoredObject:
        """Write an object if its generation is this one; 0 is that of a missing object."""
        with self.lock:
            there = self.objects.get(key)
            if generation is not None and generation != (there.generation if there else 0):
                raise Refused(412, "PreconditionFailed")
            self.objects[key] = StoredObject(data, next(self.generations), etag_of(data))
            return self.objects[key]

    def delete(self, key: str) -> None:
        with self.lock:
            self.get(key)
            del self.objects[key]

    def listing(self, name: str, query: dict[str, str]) -> str:
        """One page. Names and common prefixes are in order of their bytes, and both count towards the limit."""
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        after = query.get("start-after", "")
        if token := query.get("continuation-token"):
            after = base64.urlsafe_b64decode(token).decode()
        most = min(MOST_LISTED, int(query.get("max-keys") or MOST_LISTED))
        with self.lock:
            entries = grouped(
                sorted((key for key in self.objects if key.startswith(prefix)), key=str.encode), prefix, delimiter
            )
            wanted = [entry for entry in entries if entry.encode() > after.encode()]
            page = wanted[:most]
            found = [self._entry(entry) for entry in page]
        more = len(wanted) > len(page)
        token = base64.urlsafe_b64encode(page[-1].encode()).decode() if more else ""
        following = f"<NextContinuationToken>{token}</NextContinuationToken>" if more else ""
        return (
            "<?xml version='1.0' encoding='UTF-8'?><ListBucketResult xmlns='http://doc.s3.amazonaws.com/2006-03-01'>"
            f"<Name>{escape(name)}</Name><Prefix>{escape(prefix)}</Prefix><KeyCount>{len(page)}</KeyCount>"
            f"<IsTruncated>{str(more).lower()}</IsTruncated>{following}{''.join(found)}</ListBucketResult>"
        )

    def _entry(self, entry: str) -> str:
        if entry not in self.objects:
            return f"<CommonPrefixes><Prefix>{escape(entry)}</Prefix></CommonPrefixes>"
        one = self.objects[entry]
        modified = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(one.modified))
        return (
            f"<Contents><Key>{escape(entry)}</Key><Generation>{one.generation}</Generation><MetaGeneration>1</MetaGeneration>"
            f"<LastModified>{modified}.{int(one.modified * 1000) % 1000:03d}Z</LastModified>"
            f"<ETag>{escape(one.etag)}</ETag><Size>{len(one.data)}</Size></Contents>"
        )

    def begin_upload(self, key: str) -> str:
        with self.lock:
            upload = f"upload-{next(self.generations)}"
            self.uploads[upload] = (key, {})
            return upload

    def put_part(self, upload: str, number: int, data: bytes) -> str:
        with self.lock:
            self._parts(upload)[number] = data
            return etag_of(data)

    def complete(self, upload: str, document: str) -> StoredObject:
        """Join the parts that the document names. The ETag of the object is not an MD5."""
        with self.lock:
            parts = self._parts(upload)
            named = [(int(_NUMBER.findall(part)[0]), _ETAG.findall(part)[0]) for part in _PART.findall(document)]
            if not named or [number for number, _ in named] != sorted({number for number, _ in named}):
                raise Refused(400, "InvalidPartOrder")
            if any(
                number not in parts or etag.strip('"') != etag_of(parts[number]).strip('"') for number, etag in named
            ):
                raise Refused(400, "InvalidPart")
            if any(len(parts[number]) < SMALLEST_PART for number, _ in named[:-1]):
                raise Refused(400, "EntityTooSmall")
            key, _ = self.uploads.pop(upload)
            generation = next(self.generations)
            etag = base64.b64encode(generation.to_bytes(8, "little")).decode()
            self.objects[key] = StoredObject(b"".join(parts[number] for number, _ in named), generation, f'"{etag}"')
            return self.objects[key]

    def abort(self, upload: str) -> None:
        with self.lock:
            self._parts(upload)
            del self.uploads[upload]

    def _parts(self, upload: str) -> dict[int, bytes]:
        if upload not in self.uploads:
            raise Refused(404, "NoSuchUpload")
        return self.uploads[upload][1]


_PART = re.compile("<Part>(.*?)</Part>", re.DOTALL)
_NUMBER, _ETAG = re.compile(r"<PartNumber>(\d+)</PartNumber>"), re.compile("<ETag>([^<]*)</ETag>")


def etag_of(data: bytes) -> str:
    """That of an object written in one request: equal contents have equal ETags, unlike generations."""
    return f'"{hashlib.md5(data, usedforsecurity=False).hexdigest()}"'


def grouped(keys: Iterable[str], prefix: str, delimiter: str) -> list[str]:
    """The keys; those with a delimiter after the prefix are represented once, by what precedes its end."""
    found = dict[str, None]()
    for key in keys:
        rest = key[len(prefix) :]
        cut = rest.find(delimiter) if delimiter else -1
        found[prefix + rest[: cut + len(delimiter)] if cut >= 0 else key] = None
    return list(found)
