"""Upstream mirrors of a model's files, their hosts, and their health.

Each mirror has a circuit breaker: after repeated failures it opens, and the mirror is not used for a while.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from importlib.resources import files
from typing import Annotated, Literal, NamedTuple
from urllib.parse import urlsplit

from gribmill.checked.constraints import Bounds
from gribmill.checked.table import read
from gribmill.ingest.errors import ModelError, NotThere, RateLimited

SCHEMES = ("https", "http", "file")
LONGEST_ROOT = 500

# s3: XML pages of keys (also Google's). pages: HTML directory listings. folder: local files. none: HEAD probes.
ListingKind = Literal["s3", "pages", "folder", "none"]
# noaa_idx: the output of `wgrib2 -s`. ecmwf_index: JSON lines. none: files are fetched whole.
IndexKind = Literal["noaa_idx", "ecmwf_index", "none"]

# One failure may be random; three in a row are an outage.
FAILURES_TO_OPEN = 3
FIRST_PAUSE = timedelta(seconds=30)
LONGEST_PAUSE = timedelta(minutes=30)
# When every mirror of a file is open, each is still tried this often.
TRIAL_EVERY = timedelta(seconds=30)
LONGEST_REASON = 500

BreakerState = Literal["closed", "open", "half_open"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """The limits of one host, shared by all mirrors on it. The keys are explained in hosts.toml."""

    name: str
    title: str
    listing: ListingKind
    connections: Annotated[int, Bounds(ge=1, le=64)]
    requests_per_minute: Annotated[int, Bounds(ge=1)] | None = None
    retention_hours: Annotated[int, Bounds(ge=1)] | None = None
    settle_seconds: Annotated[int, Bounds(ge=0)] = 0
    retry_statuses: tuple[int, ...] = ()


@lru_cache(maxsize=1)
def hosts() -> dict[str, Host]:
    """The hosts in hosts.toml, by name."""
    tables = tomllib.loads(files("gribmill.ingest").joinpath("hosts.toml").read_text(encoding="utf-8"))
    return {name: read(Host, {"name": name, **table}) for name, table in tables.items()}


@dataclass(frozen=True, slots=True)
class Mirror:
    """A root URL to which keys are appended, on a host with limits; it may keep only runs of a certain period."""

    name: str
    root: str
    host: Host
    begins: datetime | None = None
    ends: datetime | None = None

    @property
    def listing(self) -> ListingKind:
        """How to list its files."""
        return "folder" if self.root.startswith("file:") else self.host.listing

    def has(self, run: datetime) -> bool:
        """Whether the run is in the period that it keeps."""
        return (self.begins is None or run >= self.begins) and (self.ends is None or run < self.ends)


class SourceUrls(NamedTuple):
    """The URLs of a file and its index on one mirror; `index_url` is None for files without an index."""

    mirror: Mirror
    grib_url: str
    index_url: str | None
    index_kind: IndexKind


def clean_root(text: str) -> str:
    """A mirror's root URL with exactly one trailing slash. Raises ModelError if it is not valid."""
    try:
        parts = urlsplit(text)
        usable = parts.port is None or parts.port > 0
    except ValueError:
        usable = False
    if not usable or len(text) > LONGEST_ROOT or not text.isascii() or any(letter <= " " for letter in text):
        raise ModelError(f"{text[:100]!r} is not a valid address of a mirror")
    if parts.scheme not in SCHEMES or (parts.scheme == "file") != (parts.netloc == ""):
        raise ModelError(f"{text!r}: a mirror is at https://…, http://… or file:///…")
    if parts.query or parts.fragment or "@" in parts.netloc:
        raise ModelError(f"{text!r}: the address of a mirror may not have a user, a question mark or #")
    return text.rstrip("/") + "/"


@dataclass(frozen=True, slots=True)
class Observation:
    """Whether a mirror worked in one scan or download. A missing file does not count as a failure."""

    mirror: str
    at: datetime
    ok: bool
    reason: str = ""
    retry_after_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class MirrorHealth:
    """The state of one mirror after all observations."""

    mirror: str
    failures: int = 0
    open_until: datetime | None = None
    last_reason: str = ""
    last_failure: datetime | None = None
    last_success: datetime | None = None
    asked_until: datetime | None = None
    """The host asked for a pause until then (Retry-After)."""

    @property
    def trial_at(self) -> datetime | None:
        """When an open mirror may be tried again if all others are open too; never before the host allows it."""
        if self.open_until is None:
            return None
        again = self.last_failure + TRIAL_EVERY if self.last_failure else self.open_until
        return min(max(again, self.asked_until or again), self.open_until)

    def state(self, now: datetime) -> BreakerState:
        """open: do not use the mirror. half_open: the pause is over, and the next request shows whether it works."""
        if self.open_until is None:
            return "closed"
        return "open" if now < self.open_until else "half_open"


def observation_of(mirror: str, error: Exception | None, now: datetime) -> Observation:
    """A success (no error, or only a missing file) or a failure."""
    if error is None or isinstance(error, NotThere):
        return Observation(mirror, now, ok=True)
    pause = error.retry_after_seconds if isinstance(error, RateLimited) else None
    return Observation(mirror, now, ok=False, reason=str(error)[:LONGEST_REASON], retry_after_seconds=pause)


def updated_health(health: MirrorHealth | None, seen: Observation) -> MirrorHealth:
    """The health after one more observation. Observations that arrive out of order never shorten a pause."""
    health = health or MirrorHealth(seen.mirror)
    if seen.ok:
        if health.last_failure is not None and seen.at < health.last_failure:
            return health
        return replace(health, failures=0, open_until=None, asked_until=None, last_success=seen.at)
    failures = health.failures + 1
    pause = _pause(failures, seen.retry_after_seconds)
    until, asked = health.open_until, health.asked_until
    if pause is not None:
        until = max(filter(None, (until, seen.at + pause)))
    if seen.retry_after_seconds is not None:
        asked = max(filter(None, (asked, seen.at + timedelta(seconds=seen.retry_after_seconds))))
    return replace(
        health,
        failures=failures,
        open_until=until,
        asked_until=asked,
        last_reason=seen.reason,
        last_failure=seen.at,
    )


def order_mirrors(urls: Iterable[SourceUrls], health: Mapping[str, MirrorHealth], now: datetime) -> list[SourceUrls]:
    """Sorts open mirrors last, by the end of their pause; otherwise keeps the given order."""

    def rank(source: SourceUrls) -> tuple[bool, float]:
        known = health.get(source.mirror.name)
        if known is None or known.open_until is None or known.state(now) != "open":
            return False, 0.0
        return True, known.open_until.timestamp()

    return sorted(urls, key=rank)


@dataclass(frozen=True, slots=True)
class MirrorChoice:
    """The mirrors to use now for a file, best first, and when each of the others may be used."""

    usable: tuple[SourceUrls, ...]
    left_alone: tuple[tuple[SourceUrls, datetime], ...]
    trial: bool
    """Whether the usable mirrors are open; a failure then says nothing about the file."""


def choose_mirrors(urls: Iterable[SourceUrls], health: Mapping[str, MirrorHealth], now: datetime) -> MirrorChoice:
    """The mirrors that are not open. If all are open, those due for a trial, by the end of their pause."""
    closed: list[SourceUrls] = []
    opened: list[tuple[SourceUrls, MirrorHealth]] = []
    for source in order_mirrors(urls, health, now):
        known = health.get(source.mirror.name)
        if known is not None and known.state(now) == "open":
            opened.append((source, known))
        else:
            closed.append(source)
    if closed:
        return MirrorChoice(tuple(closed), tuple((one, known.open_until or now) for one, known in opened), trial=False)
    tried = [source for source, known in opened if (known.trial_at or now) <= now]
    waiting = tuple((one, known.trial_at or now) for one, known in opened if one not in tried)
    return MirrorChoice(tuple(tried), waiting, trial=bool(tried))


def _pause(failures: int, asked_seconds: float | None) -> timedelta | None:
    """The pause after a failure, doubled with each further failure; never shorter than the host asks for."""
    pauses = []
    if asked_seconds is not None:
        pauses.append(timedelta(seconds=asked_seconds))
    if failures >= FAILURES_TO_OPEN:
        pauses.append(min(FIRST_PAUSE * 2 ** min(failures - FAILURES_TO_OPEN, 10), LONGEST_PAUSE))
    return max(pauses, default=None)
