"""Finds the hours of a run that a mirror has, from its listing or, without one, with a request per file."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from gribmill.ingest.http.client import SourceSession, head_of_file, path_of
from gribmill.ingest.http.errors import Broken, NotThere, TooLarge
from gribmill.ingest.http.response import ObjectHead
from gribmill.ingest.listing.html import read_page
from gribmill.ingest.listing.s3 import list_bucket
from gribmill.ingest.mirrors.mirror import Host, Mirror, SourceUrls
from gribmill.ingest.models.model import Model

# The largest HTML listing, NBM's, has about 2,000 files at 250 bytes each.
PAGE_LIMIT_BYTES = 16_000_000
MOST_FILES = 100_000


@dataclass(frozen=True, slots=True)
class Listed:
    """An object in a listing; None for attributes that the listing does not show. `empty`: it has no bytes yet."""

    key: str
    size: int | None = None
    etag: str | None = None
    last_modified: datetime | None = None
    empty: bool = False


def list_keys(mirror: Mirror, prefix: str, session: SourceSession) -> dict[str, Listed]:
    """All objects whose key starts with the prefix, by key."""
    match mirror.listing:
        case "s3":
            found = list_bucket(mirror.root, prefix, mirror.host, session)
            rows = [Listed(one.key, one.size, one.etag, one.last_modified, one.size == 0) for one in found]
        case "pages":
            rows = _page(mirror, prefix, session)
        case "folder":
            rows = _folder(mirror.root, prefix)
        case "none":
            raise Broken(mirror.root, "this mirror has no listing")
    return {row.key: row for row in rows}


def _page(mirror: Mirror, prefix: str, session: SourceSession) -> list[Listed]:
    folder, _, start = prefix.rpartition("/")
    folder = f"{folder}/" if folder else ""
    url = mirror.root + folder
    try:
        page = session.get(url, mirror.host, limit_bytes=PAGE_LIMIT_BYTES).data
    except NotThere:
        return []
    return [
        Listed(folder + line.name, line.size, None, line.last_modified, line.empty)
        for line in read_page(page, url)
        if line.name.startswith(start)
    ]


def _folder(root: str, prefix: str) -> list[Listed]:
    folder, _, start = prefix.rpartition("/")
    url = f"{root}{folder}"
    rows: list[Listed] = []
    try:
        with os.scandir(path_of(url)) as entries:
            for entry in entries:
                if entry.name.startswith(start) and entry.is_file():
                    facts = entry.stat()
                    head = head_of_file(url, facts)
                    modified = datetime.fromtimestamp(facts.st_mtime, UTC)
                    key = f"{folder}/{entry.name}" if folder else entry.name
                    rows.append(Listed(key, facts.st_size, head.etag, modified, facts.st_size == 0))
                if len(rows) > MOST_FILES:
                    raise TooLarge(url, f"more than {MOST_FILES} files in one folder")
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise Broken(url, f"cannot be read: {error.strerror}") from None
    return rows


# Hours are published roughly in order: after this many missing hours, the rest is assumed missing too.
MISSING_TO_STOP = 3


@dataclass(frozen=True, slots=True)
class Published:
    """An hour that can be fetched; size, tag and time are None if the mirror's listing does not show them."""

    hour: int
    mirror: str
    grib_url: str
    index_url: str | None
    size: int | None
    etag: str | None
    last_modified: datetime | None
    index_there: bool


def published(
    model: Model,
    run: datetime,
    mirror: Mirror,
    session: SourceSession,
    *,
    now: datetime | None = None,
    hours: Collection[int] | None = None,
) -> dict[int, Published]:
    """The hours of a run that can be fetched: with their index, not empty, and no longer being written.

    Takes one request, or one per page of a long listing; on hosts without a listing, `hours` limits the files that are
    probed. Raises SourceError if the mirror fails; returns nothing for a run that has not started to arrive.
    """
    prefix = model.list_prefix(run, mirror)
    if prefix is None:
        return {}
    wanted = [hour for hour in model.hours(run) if hours is None or hour in hours]
    sources = {hour: source for hour in wanted for source in model.urls(run, hour) if source.mirror.name == mirror.name}
    moment = now or datetime.now(UTC)
    if mirror.listing == "none" or _in_folders(mirror, prefix, sources):
        found = {
            hour: _published(hour, sources[hour], head.size, head.etag, head.last_modified, index)
            for hour, (head, index) in _probe(sources.items(), session).items()
            if head.size != 0
        }
    else:
        found = _listed(mirror, list_keys(mirror, prefix, session), sources)
    return {hour: one for hour, one in found.items() if _ready(one, mirror, moment)}


def _probe(urls: Iterable[tuple[int, SourceUrls]], session: SourceSession) -> dict[int, tuple[ObjectHead, bool]]:
    """The hours that exist, in the given order: each file's head, and whether its index exists."""
    found: dict[int, tuple[ObjectHead, bool]] = {}
    missing = 0
    for hour, source in urls:
        head = _head(source.grib_url, source.mirror.host, session)
        if head is None:
            missing += 1
            if missing == MISSING_TO_STOP:
                break
            continue
        missing = 0
        index = source.index_url is not None and _head(source.index_url, source.mirror.host, session) is not None
        found[hour] = head, index
    return found


def _head(url: str, host: Host, session: SourceSession) -> ObjectHead | None:
    try:
        return session.head(url, host)
    except NotThere:
        return None


def _listed(mirror: Mirror, keys: dict[str, Listed], sources: dict[int, SourceUrls]) -> dict[int, Published]:
    found: dict[int, Published] = {}
    for hour, source in sources.items():
        grib = keys.get(source.grib_url.removeprefix(mirror.root))
        index = keys.get(source.index_url.removeprefix(mirror.root)) if source.index_url else None
        if grib is not None and not grib.empty:
            there = index is not None and not index.empty
            found[hour] = _published(hour, source, grib.size, grib.etag, grib.last_modified, there)
    return found


def _published(
    hour: int, source: SourceUrls, size: int | None, etag: str | None, modified: datetime | None, index: bool
) -> Published:
    return Published(hour, source.mirror.name, source.grib_url, source.index_url, size, etag, modified, index)


def _ready(one: Published, mirror: Mirror, now: datetime) -> bool:
    """Whether it has its index, and is old enough on hosts that serve files while they are being written."""
    # A user's own folder may contain GRIB files without an index; their headers are read instead.
    indexed = one.index_there or one.index_url is None or mirror.listing == "folder"
    settle = timedelta(seconds=mirror.host.settle_seconds)
    young = bool(settle) and one.last_modified is not None and one.last_modified > now - settle
    return indexed and not young


def _in_folders(mirror: Mirror, prefix: str, sources: dict[int, SourceUrls]) -> bool:
    """Whether each hour has a separate folder, so that no single page or folder lists them all."""
    keys = (source.grib_url.removeprefix(mirror.root) for source in sources.values())
    return mirror.listing in ("pages", "folder") and any("/" in key.removeprefix(prefix) for key in keys)
