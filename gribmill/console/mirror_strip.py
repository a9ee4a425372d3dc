"""Mirror health over the last days, as segments in a 600-wide box."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from gribmill.console.wording import duration, exact
from gribmill.pipeline.status.mirror_status import MirrorStatus
from gribmill.queue.model import PublishedEvent

STRIP_DAYS = 7
WIDTH = 600.0
# Narrower segments would be invisible.
LEAST_WIDTH = 2.0


@dataclass(frozen=True, slots=True)
class SickTime:
    x: float
    width: float
    label: str


@dataclass(frozen=True, slots=True)
class MirrorStrip:
    """One mirror; `share` is the part of the time when it was healthy."""

    name: str
    sick: tuple[SickTime, ...]
    share: float


def mirror_strips(
    mirrors: Sequence[MirrorStatus], events: Iterable[PublishedEvent], now: datetime
) -> list[MirrorStrip]:
    """The strip of each mirror. `events` are mirror events, newest first."""
    begin = now - timedelta(days=STRIP_DAYS)
    by_mirror: dict[str, list[tuple[datetime, bool, str]]] = {}
    for one in reversed([*events]):
        if one.created_at is not None:
            found = by_mirror.setdefault(str(one.values.get("mirror", "")), [])
            found.append((one.created_at, one.name == "mirror.sick", str(one.values.get("reason", ""))))
    for mirror in mirrors:
        moments = by_mirror.setdefault(mirror.name, [])
        if mirror.sick_until is not None and not (moments and moments[-1][1]):  # its event was pruned, or not read
            moments.append((mirror.last_success or begin, True, mirror.last_reason))
    return [_strip(one.name, [*_spans(by_mirror[one.name], now)], begin, now) for one in mirrors]


def _spans(moments: Sequence[tuple[datetime, bool, str]], now: datetime) -> Iterable[tuple[datetime, datetime, str]]:
    since: tuple[datetime, str] | None = None
    for at, sick, reason in moments:
        if sick and since is None:
            since = at, reason
        elif not sick and since is not None:
            yield since[0], at, since[1]
            since = None
    if since is not None:
        yield since[0], now, since[1]


def _strip(name: str, spans: Iterable[tuple[datetime, datetime, str]], begin: datetime, now: datetime) -> MirrorStrip:
    whole = (now - begin).total_seconds()
    found, lost = [], 0.0
    for start, end, reason in spans:
        if end <= begin:
            continue
        first = max(start, begin)
        seconds = (end - first).total_seconds()
        lost += seconds
        x = WIDTH * (first - begin).total_seconds() / whole
        width = max(LEAST_WIDTH, WIDTH * seconds / whole)
        label = (
            f"sick for {duration((end - start).total_seconds())} from {exact(start)}{f': {reason}' if reason else ''}"
        )
        found.append(SickTime(round(min(x, WIDTH - width), 1), round(width, 1), label))
    return MirrorStrip(name, tuple(found), 1 - lost / whole)
