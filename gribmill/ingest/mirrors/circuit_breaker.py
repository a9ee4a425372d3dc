"""How a mirror has been doing: a breaker that keeps jobs away from one that is out of order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from gribmill.ingest.http.errors import NotThere, RateLimited
from gribmill.ingest.mirrors.mirror import SourceUrls

# One failure is weather; three in a row are an outage.
FAILURES_TO_OPEN = 3
FIRST_PAUSE = timedelta(seconds=30)
LONGEST_PAUSE = timedelta(minutes=30)
LONGEST_REASON = 500

State = Literal["well", "sick", "trial"]


@dataclass(frozen=True, slots=True)
class Sighting:
    """What one piece of work found of a mirror. A file that is not there yet says nothing against it."""

    mirror: str
    at: datetime
    well: bool
    reason: str = ""
    retry_after_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class MirrorHealth:
    """The sum of all sightings of one mirror."""

    mirror: str
    failures: int = 0
    sick_until: datetime | None = None
    last_reason: str = ""
    last_failure: datetime | None = None
    last_success: datetime | None = None

    def state(self, now: datetime) -> State:
        """sick: leave it alone. trial: its pause is over, and the next work shows whether it is well again."""
        if self.sick_until is None:
            return "well"
        return "sick" if now < self.sick_until else "trial"


def sighting_of(mirror: str, error: Exception | None, now: datetime) -> Sighting:
    """A success (no error, or only a file that is not there) or a failure."""
    if error is None or isinstance(error, NotThere):
        return Sighting(mirror, now, well=True)
    pause = error.retry_after_seconds if isinstance(error, RateLimited) else None
    return Sighting(mirror, now, well=False, reason=str(error)[:LONGEST_REASON], retry_after_seconds=pause)


def after(health: MirrorHealth | None, sighting: Sighting) -> MirrorHealth:
    """The health that follows; sightings that come late, out of order, never shorten a pause."""
    health = health or MirrorHealth(sighting.mirror)
    if sighting.well:
        if health.last_failure is not None and sighting.at < health.last_failure:
            return health
        return replace(health, failures=0, sick_until=None, last_success=sighting.at)
    failures = health.failures + 1
    pause = _pause(failures, sighting.retry_after_seconds)
    until = health.sick_until
    if pause is not None:
        until = max(filter(None, (until, sighting.at + pause)))
    return replace(health, failures=failures, sick_until=until, last_reason=sighting.reason, last_failure=sighting.at)


def order_mirrors(urls: Iterable[SourceUrls], health: Mapping[str, MirrorHealth], now: datetime) -> list[SourceUrls]:
    """The given order of preference, but sick mirrors last, the one that is over it soonest first among them."""

    def rank(source: SourceUrls) -> tuple[bool, float]:
        known = health.get(source.mirror.name)
        if known is None or known.sick_until is None or known.state(now) != "sick":
            return False, 0.0
        return True, known.sick_until.timestamp()

    return sorted(urls, key=rank)


def _pause(failures: int, asked_seconds: float | None) -> timedelta | None:
    """Doubled with every further failure; never shorter than the host asks for."""
    pauses = []
    if asked_seconds is not None:
        pauses.append(timedelta(seconds=asked_seconds))
    if failures >= FAILURES_TO_OPEN:
        pauses.append(min(FIRST_PAUSE * 2 ** min(failures - FAILURES_TO_OPEN, 10), LONGEST_PAUSE))
    return max(pauses, default=None)
