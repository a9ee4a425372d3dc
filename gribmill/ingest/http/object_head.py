"""What a host says about an object before its bytes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from gribmill.ingest.http.errors import Changed, Untrusted

LONGEST_ETAG = 200
# A host that asks for more than an hour is asked again after one.
LONGEST_RETRY_SECONDS = 3600.0
USUAL_RETRY_SECONDS = 30.0
_CONTENT_RANGE = re.compile(r"bytes (\d{1,19})-(\d{1,19})/(\d{1,19}|\*)")
_EMPTY_RANGE = re.compile(r"bytes \*/(\d{1,19})")


@dataclass(frozen=True, slots=True)
class Head:
    """An object's size and identity; None where the host does not say."""

    url: str
    size: int | None = None
    etag: str | None = None
    last_modified: datetime | None = None
    ranges: bool = False

    @property
    def strong_etag(self) -> str | None:
        """What If-Match can be asked with: weak tags never match."""
        return self.etag if self.etag and not self.etag.startswith("W/") else None

    def check_same(self, other: Head) -> None:
        """Raises Changed unless the other can be the same object."""
        for name in ("size", "etag", "last_modified"):
            mine, theirs = getattr(self, name), getattr(other, name)
            # Times only count where nothing better does: hosts of one name may disagree by a second.
            if name == "last_modified" and self.etag and other.etag:
                continue
            if mine is not None and theirs is not None and mine != theirs:
                raise Changed(self.url, f"the object was replaced while it was read ({name} {mine} became {theirs})")


def head_of(url: str, headers: Mapping[str, str], *, size: int | None) -> Head:
    """The facts of an answer's headers; `size` is that of the whole object."""
    return Head(
        url=url,
        size=size,
        etag=clean_etag(headers.get("ETag")),
        last_modified=http_date(headers.get("Last-Modified")),
        ranges=headers.get("Accept-Ranges", "").strip().lower() == "bytes",
    )


def clean_etag(text: str | None) -> str | None:
    """A tag in its quotes, or None for what is none."""
    if not text or len(text) > LONGEST_ETAG or not text.isprintable() or not text.isascii():
        return None
    text = text.strip()
    return text if text.startswith(('"', 'W/"')) else f'"{text}"'


def http_date(text: str | None) -> datetime | None:
    """A time of an HTTP header in UTC; None for nonsense."""
    if not text or len(text) > 60:
        return None
    try:
        moment = parsedate_to_datetime(text)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def content_length(headers: Mapping[str, str]) -> int | None:
    """The announced number of bytes; None where there is none."""
    text = headers.get("Content-Length", "")
    return int(text) if re.fullmatch(r"\d{1,18}", text) else None


def checked_range(url: str, headers: Mapping[str, str], start: int, end: int | None) -> tuple[int, int | None]:
    """The end of the range that a 206 brings and the object's size, or Untrusted where it is not what was asked."""
    found = _CONTENT_RANGE.fullmatch(headers.get("Content-Range", "").strip())
    if not found:
        raise Untrusted(url, f"206 without a range: Content-Range is {headers.get('Content-Range', '')[:80]!r}")
    first, last = int(found[1]), int(found[2]) + 1
    size = None if found[3] == "*" else int(found[3])
    wanted = size if end is None else end
    if first != start or (wanted is not None and last != wanted) or (size is not None and last > size):
        asked = f"{start}-{'' if end is None else end - 1}"
        raise Untrusted(url, f"bytes {asked} were asked for, but {found[0]} came")
    return last, size


def unsatisfied_size(headers: Mapping[str, str]) -> int | None:
    """The object's size as a 416 states it."""
    found = _EMPTY_RANGE.fullmatch(headers.get("Content-Range", "").strip())
    return int(found[1]) if found else None


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """The seconds of a Retry-After header, a number or a date, within reason; None where there is none."""
    text = headers.get("Retry-After", "").strip()
    if re.fullmatch(r"\d{1,9}", text):
        return min(float(text), LONGEST_RETRY_SECONDS)
    moment = http_date(text)
    return None if moment is None else min(max((moment - now).total_seconds(), 0.0), LONGEST_RETRY_SECONDS)
