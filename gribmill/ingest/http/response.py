"""Interprets HTTP responses: the status, the object's size and identity, and the range and checksum of the body."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from gribmill.ingest.errors import Broken, Changed, NotThere, PastEnd, RateLimited, Untrusted
from gribmill.ingest.mirror import Host

if TYPE_CHECKING:
    import requests

# Takes the bytes of a body, chunk by chunk.
Sink = Callable[[bytes], None]

LONGEST_ETAG = 200
# Upper limit of the wait that a host may ask for.
LONGEST_RETRY_SECONDS = 3600.0
DEFAULT_RETRY_SECONDS = 30.0
# 403: buckets that may not be listed, and NOMADS, return it for a missing file.
MISSING = (403, 404, 410)
ERROR_LIMIT_BYTES = 4096
LONGEST_PHRASE = 80
# As in Content-Length: sizes of more digits do not fit into 63 bits, where len() and databases stop.
_CONTENT_RANGE = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18}|\*)")
_EMPTY_RANGE = re.compile(r"bytes \*/(\d{1,18})")
_SHA256 = re.compile(r"(?:^|,)\s*sha-256=:([A-Za-z0-9+/=]{44}):")


@dataclass(frozen=True, slots=True)
class ObjectHead:
    """An object's size and identity; None for values that the host does not state."""

    url: str
    size: int | None = None
    etag: str | None = None
    last_modified: datetime | None = None
    ranges: bool = False

    @property
    def strong_etag(self) -> str | None:
        """The tag for If-Match; None for a weak tag, which never matches."""
        return self.etag if self.etag and not self.etag.startswith("W/") else None

    def check_same(self, other: ObjectHead) -> None:
        """Raises Changed if the other cannot be the same object."""
        for name in ("size", "etag", "last_modified"):
            mine, theirs = getattr(self, name), getattr(other, name)
            # Times are compared only if there are no tags: servers behind one name may differ by a second.
            if name == "last_modified" and self.etag and other.etag:
                continue
            if mine is not None and theirs is not None and mine != theirs:
                raise Changed(self.url, f"the object was replaced while it was read ({name} {mine} became {theirs})")


class ContentDigest:
    """The optional checksum of a body (Content-Digest, RFC 9530); without one, nothing is computed."""

    def __init__(self, expected: bytes | None) -> None:
        self._expected = expected
        self._hash = hashlib.sha256() if expected else None

    @classmethod
    def of_response(cls, headers: Mapping[str, str]) -> ContentDigest:
        """The checksum in a response's headers."""
        found = _SHA256.search(headers.get("Content-Digest", ""))
        try:
            return cls(base64.b64decode(found[1], validate=True) if found else None)
        except binascii.Error:
            return cls(None)

    @property
    def expected(self) -> bool:
        """Whether there is a checksum to compare with."""
        return self._expected is not None

    def add(self, chunk: bytes) -> None:
        """Adds the next bytes of the body."""
        if self._hash:
            self._hash.update(chunk)

    def check(self, url: str) -> None:
        """Raises Untrusted if the body does not match the checksum."""
        if self._hash and self._hash.digest() != self._expected:
            raise Untrusted(url, "the body does not match its checksum (Content-Digest)")


def object_head(url: str, headers: Mapping[str, str], *, size: int | None) -> ObjectHead:
    """An ObjectHead from a response's headers; `size` is the size of the whole object."""
    return ObjectHead(
        url=url,
        size=size,
        etag=clean_etag(headers.get("ETag")),
        last_modified=http_date(headers.get("Last-Modified")),
        ranges=headers.get("Accept-Ranges", "").strip().lower() == "bytes",
    )


def check_status(response: requests.Response, url: str, host: Host) -> None:
    """Returns for 200 and 206; raises the SourceError for any other status on this host."""
    status = response.status_code
    if status in (200, 206):
        return
    asked = retry_after(response.headers, datetime.now(UTC))
    if status == 429 or (status == 503 and (asked is not None or b"SlowDown" in _error_text(response))):
        pause = DEFAULT_RETRY_SECONDS if asked is None else asked
        raise RateLimited(url, f"asks to slow down (status {status}) for {pause:.0f} s", pause)
    if status in host.retry_statuses:
        raise Broken(url, f"returned {status}, which is temporary on {host.title}", status)
    if status in MISSING:
        raise NotThere(url, f"is not there (status {status}): not published yet, or no longer kept")
    if status == 412:
        raise Changed(url, "the object was replaced while it was read (status 412)")
    if status == 416:
        size = unsatisfied_size(response.headers)
        if size == 0:
            raise NotThere(url, "is still empty (status 416)")
        raise PastEnd(url, f"ends before the requested bytes (status 416, size {size or 'unknown'})")
    raise Broken(url, f"returned {status} {(response.reason or '')[:LONGEST_PHRASE]}".rstrip(), status)


def clean_etag(text: str | None) -> str | None:
    """An entity tag in quotes; None for an invalid one."""
    if not text or len(text) > LONGEST_ETAG or not text.isprintable() or not text.isascii():
        return None
    text = text.strip()
    return text if text.startswith(('"', 'W/"')) else f'"{text}"'


def http_date(text: str | None) -> datetime | None:
    """A time from an HTTP header, in UTC; None if it is not valid."""
    if not text or len(text) > 60:
        return None
    try:
        moment = parsedate_to_datetime(text)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def content_length(headers: Mapping[str, str]) -> int | None:
    """The Content-Length; None if it is missing or invalid."""
    text = headers.get("Content-Length", "")
    return int(text) if re.fullmatch(r"\d{1,18}", text) else None


def checked_range(url: str, headers: Mapping[str, str], start: int, end: int | None) -> tuple[int, int | None]:
    """The end of a 206 response's range and the object's size. Raises Untrusted if it is not the requested range."""
    found = _CONTENT_RANGE.fullmatch(headers.get("Content-Range", "").strip())
    if not found:
        raise Untrusted(url, f"206 without a range: Content-Range is {headers.get('Content-Range', '')[:80]!r}")
    first, last = int(found[1]), int(found[2]) + 1
    size = None if found[3] == "*" else int(found[3])
    wanted = size if end is None else end
    if first != start or (wanted is not None and last != wanted) or (size is not None and last > size):
        asked = f"{start}-{'' if end is None else end - 1}"
        raise Untrusted(url, f"bytes {asked} were requested, but {found[0]} came")
    return last, size


def unsatisfied_size(headers: Mapping[str, str]) -> int | None:
    """The object's size as stated by a 416 response."""
    found = _EMPTY_RANGE.fullmatch(headers.get("Content-Range", "").strip())
    return int(found[1]) if found else None


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """The seconds of a Retry-After header (a number or a date), capped; None without a valid header."""
    text = headers.get("Retry-After", "").strip()
    if re.fullmatch(r"\d{1,9}", text):
        return min(float(text), LONGEST_RETRY_SECONDS)
    moment = http_date(text)
    return None if moment is None else min(max((moment - now).total_seconds(), 0.0), LONGEST_RETRY_SECONDS)


def _error_text(response: requests.Response) -> bytes:
    """The start of an error response's body."""
    try:
        return response.raw.read1(ERROR_LIMIT_BYTES, decode_content=False) or b""
    except Exception:  # noqa: BLE001 - only the status matters; the text is optional
        return b""
