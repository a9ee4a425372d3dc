"""When the files of a run are published, from measurements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class PublishTime:
    """An hour's minutes after the run began: the usual time (half of all runs), and when it counts as late."""

    hour: int
    usual: float
    late: float


@dataclass(frozen=True, slots=True)
class Arrival:
    """When an hour usually arrives, and from when on it is late."""

    usual: datetime
    late: datetime


@dataclass(frozen=True, slots=True)
class PublishTimes:
    """The measured times of some cycles, on one mirror or any; hours in between are interpolated linearly."""

    points: tuple[PublishTime, ...]
    cycles: tuple[int, ...] | None = None
    mirror: str | None = None
    measured: bool = False

    def arrival(self, run: datetime, hour: int) -> Arrival:
        """When that hour of that run can be expected."""
        usual = _between(hour, [(point.hour, point.usual) for point in self.points])
        late = _between(hour, [(point.hour, point.late) for point in self.points])
        return Arrival(run + timedelta(minutes=usual), run + timedelta(minutes=late))


def _between(hour: int, points: Sequence[tuple[int, float]]) -> float:
    """Constant beyond the first and last measured hour."""
    if hour <= points[0][0]:
        return points[0][1]
    for (before, low), (after, high) in pairwise(points):
        if hour <= after:
            return low + (high - low) * (hour - before) / (after - before)
    return points[-1][1]
