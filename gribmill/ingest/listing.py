"""Lists the files of a mirror: of a local folder, of an HTML page, or of a bucket on S3 or Google Cloud Storage."""

from __future__ import annotations

import html
import os
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from urllib.parse import quote, unquote, urlencode, urljoin, urlsplit
from xml.parsers import expat

from gribmill.ingest.errors import Broken, NotThere, TooLarge, Untrusted
from gribmill.ingest.http.client import SourceSession
from gribmill.ingest.http.local_files import head_of_file, path_of
from gribmill.ingest.http.response import clean_etag
from gribmill.ingest.mirror import Host, Mirror

# A page of a bucket has 1,000 keys at about 400 bytes.
BUCKET_PAGE_BYTES = 8_000_000
MOST_PAGES = 50
ROOT = "ListBucketResult"
OBJECT = "Contents"
DEEPEST = 8
LONGEST_TEXT = 4096
MOST_OBJECTS = 10_000
# The largest HTML listing, NBM's, has about 2,000 files at 250 bytes each.
HTML_PAGE_BYTES = 16_000_000
MOST_LINKS = 20_000
LONGEST_TAIL = 600
MOST_FILES = 100_000
# Bounded repetitions keep the time linear in the length of the page, which an HTML parser does not guarantee.
_LINK = re.compile(
    r"""<a\s[^<>]{0,300}?href\s?=\s?(?:"([^"<>]{1,600})"|'([^'<>]{1,600})')[^<>]{0,300}>""", re.IGNORECASE
)
_TAG = re.compile(r"<[^<>]{0,300}>")
# 01-Aug-2025 00:51, 2025-08-01 00:51, 01-08-2025 00:51; with seconds or without.
_TIMES = (
    (re.compile(r"\b(\d{2}-[A-Z][a-z]{2}-\d{4}) (\d{2}:\d{2})"), "%d-%b-%Y %H:%M"),
    (re.compile(r"\b(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2})"), "%Y-%m-%d %H:%M"),
    (re.compile(r"\b(\d{2}-\d{2}-\d{4}) (\d{2}:\d{2})"), "%d-%m-%Y %H:%M"),
)
_SIZE = re.compile(r"(?:^|\s)(\d{1,18}(?:\.\d{1,3})?)\s?([KMGT]i?B?)?\s*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Listed:
    """A file in a listing; None for attributes that the listing does not show exactly. `empty`: it has no bytes yet."""

    key: str
    size: int | None = None
    etag: str | None = None
    last_modified: datetime | None = None
    empty: bool = False


def list_keys(mirror: Mirror, prefix: str, session: SourceSession) -> dict[str, Listed]:
    """All files whose key starts with the prefix, by key."""
    match mirror.listing:
        case "folder":
            rows = _in_folder(mirror.root, prefix)
        case "pages":
            rows = _on_page(mirror, prefix, session)
        case "s3":
            rows = _in_bucket(mirror.root, prefix, mirror.host, session)
        case "none":
            raise Broken(mirror.root, "this mirror has no listing")
    return {row.key: row for row in rows}


def _in_folder(root: str, prefix: str) -> list[Listed]:
    folder, _, start = prefix.rpartition("/")
    url = f"{root}{folder}"
    rows: list[Listed] = []
    try:
        with os.scandir(path_of(url)) as entries:
            for entry in entries:
                if entry.name.startswith(start) and entry.is_file():
                    try:
                        head = head_of_file(url, entry.stat())
                    except FileNotFoundError:  # removed since it was listed
                        continue
                    key = f"{folder}/{entry.name}" if folder else entry.name
                    rows.append(Listed(key, head.size, head.etag, head.last_modified, head.size == 0))
                if len(rows) > MOST_FILES:
                    raise TooLarge(url, f"more than {MOST_FILES} files in one folder")
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise Broken(url, f"cannot be read: {error.strerror}") from None
    return rows


def _on_page(mirror: Mirror, prefix: str, session: SourceSession) -> list[Listed]:
    folder, _, start = prefix.rpartition("/")
    folder = f"{folder}/" if folder else ""
    url = mirror.root + folder
    try:
        page = session.get(url, mirror.host, limit_bytes=HTML_PAGE_BYTES).data
    except NotThere:
        return []
    return [replace(one, key=folder + one.key) for one in read_html_page(page, url) if one.key.startswith(start)]


def read_html_page(data: bytes, url: str) -> list[Listed]:
    """The files in a directory listing of Apache, nginx or NOMADS: names, and times and sizes if shown.

    Keys are relative to the page. Raises Untrusted if it is not a directory listing.
    """
    text = data.decode("utf-8", "replace")
    links = 0
    lines: dict[str, Listed] = {}
    for link in _LINK.finditer(text):
        links += 1
        if links > MOST_LINKS:
            raise Untrusted(url, f"the page has more than {MOST_LINKS} links")
        name = _name(html.unescape(link[1] or link[2] or ""), url)
        if name is not None:
            lines[name] = _line(name, _words_after(text, link.end()))
    if not links:
        raise Untrusted(url, "this page has no links, so it is not a directory listing")
    return list(lines.values())


def _name(link: str, url: str) -> str | None:
    """The name of a file in this folder; None for folders, links elsewhere and links that sort the page."""
    try:
        parts, here = urlsplit(urljoin(url, link)), urlsplit(url)
    except ValueError:
        return None
    name = unquote(parts.path.removeprefix(here.path))
    same_place = parts[:2] == here[:2] and parts.path.startswith(here.path) and not parts.query
    return name if same_place and name and "/" not in name and name not in (".", "..") else None


def _words_after(text: str, start: int) -> str:
    """The text between a link and the next one, without tags."""
    tail = text[start : start + LONGEST_TAIL]
    tail = tail.partition("</a>")[2].partition("<a")[0]
    return " ".join(html.unescape(_TAG.sub(" ", tail)).split())


def _line(name: str, tail: str) -> Listed:
    moment = None
    for pattern, form in _TIMES:
        if found := pattern.search(tail):
            try:
                moment = datetime.strptime(f"{found[1]} {found[2]}", form).replace(tzinfo=UTC)
            except ValueError:
                continue
            tail = tail[found.end() :]
            break
    # Seconds, and the dash of a folder.
    tail = re.sub(r"^:\d{2}", "", tail).strip()
    size = _SIZE.search(tail)
    exact = int(size[1]) if size and size[1].isdigit() and not size[2] else None
    empty = exact == 0 or (size is not None and float(size[1]) == 0)
    return Listed(name, exact, None, moment, empty)


def _in_bucket(root: str, prefix: str, host: Host, session: SourceSession) -> list[Listed]:
    """All objects below a mirror's root whose keys, relative to the root, start with the prefix.

    The listing is XML pages, each with a token for the next.
    """
    bucket, folder = split_root(root)
    found: list[Listed] = []
    place: tuple[str, str] | None = None
    seen: set[tuple[str, str]] = set()
    for _ in range(MOST_PAGES):
        query = {"list-type": "2", "prefix": folder + prefix} | (dict([place]) if place else {})
        url = f"{bucket}?{urlencode(query, quote_via=quote, safe='/')}"
        page = read_bucket_page(session.get(url, host, limit_bytes=BUCKET_PAGE_BYTES).data, url)
        mine = (one for one in page.objects if one.key.startswith(folder + prefix))
        found.extend(replace(one, key=one.key.removeprefix(folder)) for one in mine)
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


@dataclass(frozen=True, slots=True)
class BucketPage:
    """The objects of a page, and where the listing continues."""

    objects: tuple[Listed, ...]
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


def read_bucket_page(data: bytes, url: str) -> BucketPage:
    """Parses one page. Raises Untrusted for anything else, and for XML with declarations (entity expansion)."""
    # Checked before parsing. Listings are UTF-8, without a document type or comments.
    if b"<!" in data or b"\0" in data:
        raise Untrusted(url, "this XML document has declarations, unlike a bucket listing; it was not parsed")
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
        raise Untrusted(url, f"this is not a bucket listing: {error}") from None
    return reader.page()


class _PageReader:
    """Keeps only the required elements, without building a tree of the page in memory."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.path: list[str] = []
        self.words = ""
        self.row: dict[str, str] = {}
        self.facts: dict[str, str] = {}
        self.objects: list[Listed] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.path.append(name)
        self.words = ""
        if len(self.path) == 1 and name != ROOT:
            raise Untrusted(self.url, f"an XML document {name[:40]!r} came instead of a listing")
        if len(self.path) > DEEPEST:
            raise Untrusted(self.url, f"XML nested deeper than {DEEPEST}: this is not a bucket listing")
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
        raise Untrusted(self.url, "this XML document has declarations, which a bucket listing does not have")

    def page(self) -> BucketPage:
        facts = self.facts
        truncated = facts.get("IsTruncated", "false").lower() == "true"
        page = BucketPage(
            tuple(self.objects), truncated, facts.get("NextContinuationToken", ""), facts.get("NextMarker", "")
        )
        if truncated and page.next_place() is None:
            raise Untrusted(self.url, "the list is truncated, but does not say where it continues")
        return page

    def _object(self) -> Listed:
        key, size = self.row.get("Key", ""), self.row.get("Size", "")
        if not key or not (size.isascii() and size.isdigit() and len(size) < 19):
            raise Untrusted(self.url, f"an object of the list has no key or no size ({key[:100]!r}, {size[:30]!r})")
        etag, modified = clean_etag(self.row.get("ETag")), _time(self.row.get("LastModified", ""))
        return Listed(key, int(size), etag, modified, empty=int(size) == 0)


def _time(text: str) -> datetime | None:
    """`2025-08-01T00:52:31.000Z`."""
    try:
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
