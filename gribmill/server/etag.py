"""ETags in conditional requests (RFC 9110, 13.1)."""

from __future__ import annotations

from starlette.datastructures import Headers

WEAK = "W/"


def has_current(headers: Headers, etag: str) -> bool:
    """Whether If-None-Match lists this ETag, or is `*`: the client's copy is current. Weak tags are the same."""
    tags = _tags(headers, "if-none-match")
    return tags == ["*"] or any(tag.removeprefix(WEAK) == etag for tag in tags)


def wants_other(headers: Headers, etag: str) -> bool:
    """Whether If-Match lists only other ETags. A weak tag does not say that the bytes are the same."""
    tags = _tags(headers, "if-match")
    return bool(tags) and tags != ["*"] and etag not in tags


def _tags(headers: Headers, name: str) -> list[str]:
    """The tags of the header, which may be sent in several lines."""
    return [tag.strip() for line in headers.getlist(name) for tag in line.split(",") if tag.strip()]
