"""Asking for each file by its name: the last resort where a host has no listing."""

from __future__ import annotations

from collections.abc import Iterable

from gribmill.ingest.http.client import Session
from gribmill.ingest.http.errors import NotThere
from gribmill.ingest.http.object_head import Head
from gribmill.ingest.mirrors.host import Host
from gribmill.ingest.mirrors.mirror import SourceUrls

# Hours are published in order, save a few: after so many that are missing, the rest is not there either.
MISSING_TO_STOP = 3


def probe(urls: Iterable[tuple[int, SourceUrls]], session: Session) -> dict[int, tuple[Head, bool]]:
    """The hours that are there, asked for in the given order: what the host says of each, and whether its index is."""
    found: dict[int, tuple[Head, bool]] = {}
    missing = 0
    for hour, source in urls:
        head = _look(source.grib_url, source.mirror.host, session)
        if head is None:
            missing += 1
            if missing == MISSING_TO_STOP:
                break
            continue
        missing = 0
        index = source.index_url is not None and _look(source.index_url, source.mirror.host, session) is not None
        found[hour] = head, index
    return found


def _look(url: str, host: Host, session: Session) -> Head | None:
    try:
        return session.head(url, host)
    except NotThere:
        return None
