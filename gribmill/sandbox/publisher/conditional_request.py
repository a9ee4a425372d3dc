"""Conditional request headers: whether a request still applies to the object."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Literal

Precondition = Literal["met", "not modified", "failed"]


def check_preconditions(headers: Mapping[str, str], etag: str, modified: datetime) -> Precondition:
    """Evaluates preconditions (RFC 9110, 13.2.2): tags take precedence over times."""
    match, none_match = headers.get("If-Match"), headers.get("If-None-Match")
    if match is not None:
        if not _has(match, etag):
            return "failed"
    elif (limit := _time(headers.get("If-Unmodified-Since"))) and modified > limit:
        return "failed"
    if none_match is not None:
        return "not modified" if _has(none_match.replace("W/", ""), etag) else "met"
    if (limit := _time(headers.get("If-Modified-Since"))) and modified <= limit:
        return "not modified"
    return "met"


def range_applies(if_range: str | None, etag: str, modified: datetime) -> bool:
    """Whether a Range header applies; if the object changed, all of it is sent."""
    if if_range is None:
        return True
    return if_range == etag if if_range.startswith(('"', "W/")) else _time(if_range) == modified


def _has(header: str, etag: str) -> bool:
    tags = {tag.strip() for tag in header.split(",")}
    return "*" in tags or etag in tags or etag.strip('"') in tags


def _time(text: str | None) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text) if text else None
    except (ValueError, OverflowError):
        return None
    return moment.replace(tzinfo=UTC) if moment and moment.tzinfo is None else moment
