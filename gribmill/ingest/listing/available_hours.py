"""Which hours of a run a mirror has."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from gribmill.ingest.http.client import Session
from gribmill.ingest.listing.head_probe import probe
from gribmill.ingest.listing.objects import Listed, list_keys
from gribmill.ingest.mirrors.mirror import Mirror, SourceUrls
from gribmill.ingest.models.model import Model


@dataclass(frozen=True, slots=True)
class Published:
    """An hour that can be fetched; size, tag and time are None where the mirror's listing does not show them."""

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
    session: Session,
    *,
    now: datetime | None = None,
    hours: Collection[int] | None = None,
) -> dict[int, Published]:
    """The hours of a run that are there with their index, none of them empty or still being written.

    One request, or one for each page of a long list; where a host lists nothing, `hours` bounds which are asked for.
    A mirror that fails raises a SourceError; a run that has not begun to arrive gives nothing.
    """
    prefix = model.list_prefix(run, mirror)
    if prefix is None:
        return {}
    wanted = [hour for hour in model.hours(run) if hours is None or hour in hours]
    sources = {hour: source for hour in wanted for source in model.urls(run, hour) if source.mirror.name == mirror.name}
    moment = now or datetime.now(UTC)
    if mirror.listing == "none" or _in_folders(mirror, prefix, sources):
        found = {
            hour: _of(hour, sources[hour], head.size, head.etag, head.last_modified, index)
            for hour, (head, index) in probe(sources.items(), session).items()
            if head.size != 0
        }
    else:
        found = _listed(mirror, list_keys(mirror, prefix, session), sources)
    return {hour: one for hour, one in found.items() if _ready(one, mirror, moment)}


def _listed(mirror: Mirror, keys: dict[str, Listed], sources: dict[int, SourceUrls]) -> dict[int, Published]:
    found: dict[int, Published] = {}
    for hour, source in sources.items():
        grib = keys.get(source.grib_url.removeprefix(mirror.root))
        index = keys.get(source.index_url.removeprefix(mirror.root)) if source.index_url else None
        if grib is not None and not grib.empty:
            there = index is not None and not index.empty
            found[hour] = _of(hour, source, grib.size, grib.etag, grib.last_modified, there)
    return found


def _of(
    hour: int, source: SourceUrls, size: int | None, etag: str | None, modified: datetime | None, index: bool
) -> Published:
    return Published(hour, source.mirror.name, source.grib_url, source.index_url, size, etag, modified, index)


def _ready(one: Published, mirror: Mirror, now: datetime) -> bool:
    """With its index, and old enough on hosts that serve files while they are written."""
    # A folder of the user's own may hold GRIB alone: such files are walked.
    indexed = one.index_there or one.index_url is None or mirror.listing == "folder"
    settle = timedelta(seconds=mirror.host.settle_seconds)
    young = bool(settle) and one.last_modified is not None and one.last_modified > now - settle
    return indexed and not young


def _in_folders(mirror: Mirror, prefix: str, sources: dict[int, SourceUrls]) -> bool:
    """Whether hours have folders of their own, which no single page or folder shows."""
    keys = (source.grib_url.removeprefix(mirror.root) for source in sources.values())
    return mirror.listing in ("pages", "folder") and any("/" in key.removeprefix(prefix) for key in keys)
