"""A circuit breaker per mirror: after repeated failures it opens, and the mirror is not used for a while."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from gribmill.ingest.errors import NotThere, RateLimited
from gribmill.ingest.mirror import SourceUrls

# One failure may be random; three in a row are an outage.
FAILURES_TO_OPEN = 3
FIRST_PAUSE = timedelta(seconds=30)
LONGEST_PAUSE = timedelta(minutes=30)
# When every mirror of a file is open, each is still tried this often.
TRIAL_EVERY = timedelta(seconds=30)
LONGEST_REASON = 500

BreakerState = Literal["closed", "open", "half_open"]


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
