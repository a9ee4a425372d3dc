"""One line of a table: the values of each system, and how gribmill compares."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

OWN = "gribmill"


@dataclass(frozen=True)
class Row:
    """`values` has a value per round and system; `unequal` are the systems that did less than the row says."""

    title: str
    unit: str
    values: Mapping[str, Sequence[float]]
    unequal: frozenset[str] = frozenset()
    cpu_ms: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """CPU per job of client and server together."""
    goal: float | None = None
    """At least this many times the best peer; without peers, at most this."""
    cpu_goal_ms: float | None = None

    def median(self, system: str) -> float | None:
        found = self.values.get(system)
        return statistics.median(found) if found else None

    def cpu(self, system: str) -> float | None:
        found = self.cpu_ms.get(system)
        return statistics.median(found) if found else None

    def against_best(self, *, equal: bool = True) -> float | None:
        """The ratio to the best peer: the median of each round's ratio."""
        left_out = {OWN, *(self.unequal if equal else ())}
        peers = [values for system, values in self.values.items() if values and system not in left_out]
        own = self.values.get(OWN)
        if not own or not peers:
            return None
        rounds = range(min(len(own), *map(len, peers)))
        return statistics.median(self._times(own[at], [peer[at] for peer in peers]) for at in rounds)

    def _times(self, own: float, peers: Sequence[float]) -> float:
        if self.unit == "jobs/s":
            return own / max(peers)
        return min(peers) / own if own else float("inf")

    def cell(self, system: str) -> str:
        value = self.median(system)
        return shown(value) + ("*" if system in self.unequal and value else "")

    @property
    def missed_rate(self) -> bool:
        """Whether the row misses its goal, apart from CPU."""
        own, best = self.median(OWN), self.against_best()
        if self.goal is None or own is None:
            return False
        return own > self.goal if len(self.values) == 1 else best is not None and best < self.goal


def shown(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def times(value: float | None) -> str:
    return "–" if value is None or value == float("inf") else f"{value:.2f}×"
