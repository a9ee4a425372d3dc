"""Finds the hours of a run that mirrors have, from a listing or, without one, with a request per file."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from gribmill.ingest.errors import NotThere, SourceError, without_addresses
from gribmill.ingest.http.client import SourceSession
from gribmill.ingest.http.deadline import until
from gribmill.ingest.http.response import ObjectHead
from gribmill.ingest.listing import Listed, list_keys
from gribmill.ingest.mirror import Host, Mirror, MirrorHealth, Observation, SourceUrls, choose_mirrors, observation_of
from gribmill.ingest.models.model import Model

# Hours are published roughly in order: after this many missing hours, the rest is assumed missing too.
MISSING_TO_STOP = 3
# The time limit of all requests of a scan together: results must be recorded before its job times out.
ASKING_SECONDS = 200.0


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


class MirrorQuestions:
    """All requests of one scan. A mirror that fails once is not asked again."""

    def __init__(self, model: Model, session: SourceSession, health: Mapping[str, MirrorHealth], now: datetime) -> None:
        self._model = model
        self._session = session
        self._health = health
        self._now = now
        self._until = time.monotonic() + ASKING_SECONDS
        self._failed: set[str] = set()
        self.observations: list[Observation] = []
        self.errors: dict[str, str] = {}
        """Maps a mirror to why it did not respond."""
        self.answered = False
        """Whether any mirror responded, even if only with 404."""

    def published(self, run: datetime) -> tuple[dict[int, Published], bool]:
        """The published hours of a run, and whether any mirror responded; one that did not may have more.

        Asks the best mirror, and others only if hours are late or a mirror fails. If the circuit breakers of all
        mirrors are open, one of them is tried.
        """
        found: dict[int, Published] = {}
        answered = False
        urls = self._model.urls(run, self._model.hours(run)[0])
        choice = choose_mirrors(urls, self._health, self._now)
        for source, moment in choice.left_alone:
            self._leave_alone(source.mirror.name, moment)
        for source in choice.usable:
            if source.mirror.name in self._failed:
                continue
            listed = self._ask(run, source.mirror)
            if listed is None:
                continue
            answered = True
            found = {**listed, **found}
            late = [hour for hour in self._model.hours(run) if self._now > self._model.expected_at(run, hour).late]
            if self._model.discovers(run) or all(hour in found for hour in late):
                break
        return found, answered

    def _leave_alone(self, mirror: str, until: datetime) -> None:
        reason = without_addresses(self._health[mirror].last_reason)
        self.errors.setdefault(mirror, f"left alone until {until:%H:%M:%S} UTC ({reason})")

    def _ask(self, run: datetime, mirror: Mirror) -> dict[int, Published] | None:
        """The files of a run that a mirror lists; None if it does not respond in half of the remaining time."""
        now = time.monotonic()
        try:
            with until(now + (self._until - now) / 2):
                listed = published(self._model, run, mirror, self._session)
        except SourceError as error:
            seen = observation_of(mirror.name, error, self._now)
            self.observations.append(seen)
            self.errors.setdefault(mirror.name, error.reason)
            self.answered |= seen.ok
            if not seen.ok:
                self._failed.add(mirror.name)  # it would be as slow for every other run
            return None
        self.observations.append(observation_of(mirror.name, None, self._now))
        self.answered = True
        return listed

    def why(self) -> str:
        """Why mirrors did not respond, without repetitions."""
        mirrors: dict[str, list[str]] = {}
        for mirror, reason in self.errors.items():
            mirrors.setdefault(reason, []).append(mirror)
        return "; ".join(f"{', '.join(names)}: {reason}" for reason, names in mirrors.items())
