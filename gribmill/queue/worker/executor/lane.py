"""Lanes: executors for certain job types, so that slow I/O and CPU work do not block each other."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gribmill.queue.errors import UnknownLane
from gribmill.queue.job_type import COMMAND_LANE, Registry
from gribmill.queue.worker.executor.handle import ExecutorHandle

log = logging.getLogger("gribmill.worker")

FIRST_RESPAWN_SECONDS = 0.1
LONGEST_RESPAWN_SECONDS = 30.0


@dataclass(slots=True)
class Lane:
    """The executors of one lane. Dead ones are replaced, with a growing delay while none completes any work."""

    name: str
    types: tuple[str, ...]
    count: int
    nice: int = 0
    executors: list[ExecutorHandle] = field(default_factory=list)
    wants_work: bool = True
    respawn_at: float = 0.0
    deaths: int = 0

    @property
    def idle(self) -> list[ExecutorHandle]:
        return [executor for executor in self.executors if executor.idle]

    @property
    def missing(self) -> int:
        """How many executors to start, now or at `respawn_at`.

        An idle lane keeps one executor. Under load, a lane has twice as many as are busy, up to `count`.
        """
        wanted = min(self.count, max(1, 2 * sum(bool(executor.batch) for executor in self.executors)))
        return max(0, wanted - sum(not executor.retiring for executor in self.executors))

    @property
    def may_spawn(self) -> bool:
        return time.monotonic() >= self.respawn_at

    def note_death(self) -> None:
        """Record an unexpected death, which delays the next start."""
        self.deaths += 1
        wait = min(LONGEST_RESPAWN_SECONDS, FIRST_RESPAWN_SECONDS * 2.0 ** min(self.deaths - 1, 20))
        self.respawn_at = time.monotonic() + wait

    def note_success(self) -> None:
        self.deaths = 0


def make_lanes(
    types: Registry, counts: Mapping[str, int], only: Sequence[str] = (), niceness: Mapping[str, int] | None = None
) -> list[Lane]:
    """Build the lanes that have types to run; `only` limits the types. UnknownLane if a name has no types."""
    check_lanes(types, counts)
    for key in only:
        if not types[key].handler:
            log.warning("%s is declared, but this gribmill has no handler for it", key)
    keys = lane_types(types, only)
    return [
        Lane(name, keys[name], count, (niceness or {}).get(name, 0)) for name, count in counts.items() if name in keys
    ]


def check_lanes(types: Registry, counts: Mapping[str, int]) -> None:
    """Raise UnknownLane if no type runs in one of these lanes."""
    known = dict.fromkeys([*(kind.lane for kind in types), *([COMMAND_LANE] if types.command_handler else [])])
    if strange := counts.keys() - known.keys():
        raise UnknownLane(f"there is no lane {', '.join(sorted(strange))}; the lanes are: {', '.join(known)}")


def lane_types(types: Registry, only: Sequence[str] = ()) -> dict[str, tuple[str, ...]]:
    """The types that run in each lane; `only` limits them, and may name types that are gone."""
    found: dict[str, list[str]] = {}
    for kind in types.runnable():
        if not only or kind.key in only:
            found.setdefault(kind.lane, []).append(kind.key)
    return {lane: tuple(keys) for lane, keys in found.items()}
