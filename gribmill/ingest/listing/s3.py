"""Lists the objects of a bucket on S3 or Google Cloud Storage: XML pages, each with a token for the next."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from urllib.parse import quote, urlencode, urlsplit
from xml.parsers import expat

from gribmill.ingest.http.client import SourceSession
from gribmill.ingest.http.errors import Untrusted
from gribmill.ingest.http.response import clean_etag
from gribmill.ingest.mirrors.mirror import Host

# A page has 1,000 keys at about 400 bytes.
PAGE_LIMIT_BYTES = 8_000_000
MOST_PAGES = 50
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
        """The object with its key relative to that folder."""
        return replace(self, key=self.key.removeprefix(folder))


@dataclass(frozen=True, slots=True)
class BucketPage:
    """The objects of a page, and where the listing continues."""

    objects: tuple[BucketObject, ...]
    truncated: bool = False
    token: str = ""
    marker: str = ""

    def next_place(self) -> tuple[str, str] | None:
        """The query parameter for the next page; None on the last page."""
        if not self.truncated:
            return None
        if self.token:
            return "continuation-token", self.token
        if self.marker:
            return "marker", self.marker
        return ("start-after", self.objects[-1].key) if self.objects else None


def list_bucket(root: str, prefix: str, host: Host, session: SourceSession) -> list[BucketObject]:
    """All objects below a mirror's root whose keys, relative to the root, start with the prefix."""
    bucket, folder = split_root(root)
    found: list[BucketObject] = []
    place: tuple[str, str] | None = None
    seen: set[tuple[str, str]] = set()
    for _ in range(MOST_PAGES):
        query = {"list-type": "2", "prefix": folder + prefix} | (dict([place]) if place else {})
        url = f"{bucket}?{urlencode(query, quote_via=quote, safe='/')}"
        page = read_bucket_page(session.get(url, host, limit_bytes=PAGE_LIMIT_BYTES).data, url)
        found.extend(one.below(folder) for one in page.objects if one.key.startswith(folder + prefix))
        place = page.next_place()
        if place is None:
            return found
        if place in seen:
            raise Untrusted(url, "the list is circular: its next page was read before")
        seen.add(place)
    raise Untrusted(bucket, f"the list of {prefix!r} has more than {MOST_PAGES} pages")


def split_root(root: str) -> tuple[str, str]:
    """The bucket's address and the folder in it. The bucket is named in the host name (S3) or first in the path."""
    parts = urlsplit(root)
    path = parts.path.strip("/")
    named_by_host = ".s3." in parts.netloc or ".s3-" in parts.netloc
    bucket, _, folder = ("", "", path) if named_by_host else path.partition("/")
    address = f"{parts.scheme}://{parts.netloc}/" + (f"{bucket}/" if bucket else "")
    return address, f"{folder}/" if folder else ""


def read_bucket_page(data: bytes, url: str) -> BucketPage:
    """Parses one page. Raises Untrusted for anything else, and for XML with declarations (entity expansion)."""
    # Checked before parsing. Listings are UTF-8, without a document type or comments.
    if b"<!" in data or b"\0" in data:
        raise Untrusted(url, "this XML document has declarations, which a list of a bucket has not; it was not parsed")
    reader = _PageReader(url)
    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    parser.StartDoctypeDeclHandler = reader.declared
    parser.EntityDeclHandler = reader.declared
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise Untrusted(url, f"this is not a list of a bucket: {error}") from None
    return reader.page()


class _PageReader:
    """Keeps only the required elements, without building a tree of the page in memory."""

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
            raise Untrusted(self.url, f"XML nested deeper than {DEEPEST}: this is not a list of a bucket")
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
        raise Untrusted(self.url, "this XML document has declarations, which a list of a bucket has not")

    def page(self) -> BucketPage:
        facts = self.facts
        truncated = facts.get("IsTruncated", "false").lower() == "true"
        page = BucketPage(
            tuple(self.objects), truncated, facts.get("NextContinuationToken", ""), facts.get("NextMarker", "")
        )
        if truncated and page.next_place() is None:
            raise Untrusted(self.url, "the list is truncated, but does not say where it continues")
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
