"""Progress of a backfill: files and tiles, out of a total that is fixed at the start."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from gribmill.queue.store import Store

ACTIVE = ("pending", "processing")
BAD = ("failed", "cancelled")


@dataclass(frozen=True, slots=True)
class BackfillState:
    """Done and total files and tiles; failed and unfinished jobs."""

    done: int
    total: int
    failed: int
    active: int


class BackfillProgress:
    """Follows backfills through their job groups, ignoring jobs of earlier requests with the same name."""

    def __init__(self, store: Store, regions: Mapping[str, int]) -> None:
        """`regions` maps a group to the number of tiles per file. Create this once everything is enqueued."""
        self._store = store
        self._groups = {name: store.groups.find(name).id for name in regions}
        self._regions = dict(regions)
        self._first = {chain: self._counts(chain) for chain in regions}
        self._total = sum(
            _sum(counts, "ingest_grib", ACTIVE) * (1 + self._regions[chain]) + _sum(counts, "build_tile", ACTIVE)
            for chain, counts in self._first.items()
        )

    @property
    def groups(self) -> list[int]:
        """The followed job groups."""
        return [*self._groups.values()]

    def read(self) -> BackfillState:
        done = failed = active = 0
        for chain, first in self._first.items():
            now = self._counts(chain)
            active += sum(count for (_, status), count in now.items() if status in ACTIVE)
            new = {key: max(0, count - first[key]) for key, count in now.items() if key[1] not in ACTIVE}
            ended = Counter[str]()
            for (kind, status), count in new.items():
                ended[kind] += count
                failed += count if status in BAD else 0
            # A file that cannot be downloaded will have no tiles.
            without = sum(new.get(("ingest_grib", status), 0) for status in BAD) * self._regions[chain]
            done += ended["ingest_grib"] + ended["build_tile"] + without
        return BackfillState(min(done, self._total) if active else self._total, self._total, failed, active)

    def _counts(self, chain: str) -> Counter[tuple[str, str]]:
        return Counter(self._store.groups.counts(self._groups[chain]))


def _sum(counts: Counter[tuple[str, str]], kind: str, statuses: tuple[str, ...]) -> int:
    return sum(counts[kind, status] for status in statuses)
