"""One XML page of a bucket's list, read without ever expanding what a stranger declares."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from xml.parsers import expat

from gribmill.ingest.http.errors import Untrusted
from gribmill.ingest.http.object_head import clean_etag

ROOT = "ListBucketResult"
OBJECT = "Contents"
DEEPEST = 8
LONGEST_TEXT = 4096
MOST_OBJECTS = 10_000


@dataclass(frozen=True, slots=True)
class BucketObject:
    """One object."""

    key: str
    size: int
    etag: str | None
    last_modified: datetime | None

    def below(self, folder: str) -> BucketObject:
        """With its key from that folder on."""
        return replace(self, key=self.key.removeprefix(folder))


@dataclass(frozen=True, slots=True)
class BucketPage:
    """The objects of a page, and where the list goes on."""

    objects: tuple[BucketObject, ...]
    truncated: bool = False
    token: str = ""
    marker: str = ""

    def next_place(self) -> tuple[str, str] | None:
        """The parameter that asks for the next page; None at the end."""
        if not self.truncated:
            return None
        if self.token:
            return "continuation-token", self.token
        if self.marker:
            return "marker", self.marker
        return ("start-after", self.objects[-1].key) if self.objects else None


def read_bucket_page(data: bytes, url: str) -> BucketPage:
    """The page; Untrusted for anything else, and for XML that declares anything."""
    # Checked before the parser sees a byte. Lists are UTF-8 and have neither a document type nor comments.
    if b"<!" in data or b"\0" in data:
        raise Untrusted(url, "an XML document with declarations is no list of a bucket; it was not read")
    reader = _Reader(url)
    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    parser.StartDoctypeDeclHandler = reader.declared
    parser.EntityDeclHandler = reader.declared
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise Untrusted(url, f"this is no list of a bucket: {error}") from None
    return reader.page()


class _Reader:
    """Keeps the texts of the elements that matter; a page is never a tree in memory."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.path: list[str] = []
        self.words = ""
        self.row: dict[str, str] = {}
        self.facts: dict[str, str] = {}
        self.objects: list[BucketObject] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.path.append(name)
        self.words = ""
        if len(self.path) == 1 and name != ROOT:
            raise Untrusted(self.url, f"an XML document {name[:40]!r} came instead of a list")
        if len(self.path) > DEEPEST:
            raise Untrusted(self.url, f"XML nested deeper than {DEEPEST}: this is no list of a bucket")
        if self.path[1:] == [OBJECT]:
            self.row = {}

    def text(self, words: str) -> None:
        self.words += words
        if len(self.words) > LONGEST_TEXT:
            raise Untrusted(self.url, f"a text of more than {LONGEST_TEXT} characters in a list")

    def end(self, name: str) -> None:
        if self.path[1:-1] == [OBJECT]:
            self.row[name] = self.words.strip()
        elif self.path[1:] == [OBJECT]:
            self.objects.append(self._object())
            if len(self.objects) > MOST_OBJECTS:
                raise Untrusted(self.url, f"more than {MOST_OBJECTS} objects in one page of a list")
        elif len(self.path) == 2:
            self.facts[name] = self.words.strip()
        self.path.pop()
        self.words = ""

    def declared(self, *_: object) -> None:
        raise Untrusted(self.url, "an XML document with declarations is no list of a bucket")

    def page(self) -> BucketPage:
        facts = self.facts
        truncated = facts.get("IsTruncated", "false").lower() == "true"
        page = BucketPage(
            tuple(self.objects), truncated, facts.get("NextContinuationToken", ""), facts.get("NextMarker", "")
        )
        if truncated and page.next_place() is None:
            raise Untrusted(self.url, "the list says that it goes on, but not where")
        return page

    def _object(self) -> BucketObject:
        key, size = self.row.get("Key", ""), self.row.get("Size", "")
        if not key or not (size.isascii() and size.isdigit() and len(size) < 19):
            raise Untrusted(self.url, f"an object of the list has no key or no size ({key[:100]!r}, {size[:30]!r})")
        return BucketObject(key, int(size), clean_etag(self.row.get("ETag")), _time(self.row.get("LastModified", "")))


def _time(text: str) -> datetime | None:
    """`2025-08-01T00:52:31.000Z`."""
    try:
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
