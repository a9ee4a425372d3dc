"""The grid of a run: the state of each hour and region."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from gribmill.catalogue.records import HourRecord, RunRecord, TileRecord
from gribmill.ingest.models.model import Model
from gribmill.pipeline.context import Context
from gribmill.pipeline.status.status import is_partial

# Hours per band. Most models fit in one band.
BAND = 49

CellState = Literal["built", "building", "published", "late", "failed", "waiting", "none"]
# A sign for each state, so that states do not depend on colour alone.
SIGNS: dict[CellState, str] = {
    "built": "✓",
    "building": "▦",
    "published": "↓",
    "late": "!",
    "failed": "✕",
    "waiting": "·",
    "none": "–",
}
MEANINGS: dict[CellState, str] = {
    "built": "tile built",
    "building": "downloaded, tile not built yet",
    "published": "published, not downloaded yet",
    "late": "late",
    "failed": "failed, or tile lost",
    "waiting": "not due yet",
    "none": "not wanted when this hour was downloaded",
}
LEGEND = tuple((state, SIGNS[state], MEANINGS[state]) for state in MEANINGS)


@dataclass(frozen=True, slots=True)
class Cell:
    hour: int
    state: CellState
    sign: str
    label: str


@dataclass(frozen=True, slots=True)
class RegionLine:
    region: str
    cells: tuple[Cell, ...]
    built: int

    @property
    def unwanted(self) -> bool:
        """Whether no hour was downloaded for this region, because it was added later."""
        return all(cell.state == "none" for cell in self.cells)


@dataclass(frozen=True, slots=True)
class RunGrid:
    """One run: a row per region, a cell per hour."""

    model_id: str
    run_id: str
    state: str
    hours: tuple[int, ...]
    lines: tuple[RegionLine, ...]
    built: int
    wanted: int
    first_seen_at: datetime | None
    bytes: int

    @property
    def bands(self) -> tuple[slice, ...]:
        """The columns, split into bands that fit the width of a screen."""
        return tuple(slice(begin, begin + BAND) for begin in range(0, len(self.hours), BAND))

    @property
    def partly(self) -> bool:
        """Whether some hours lack a region that was downloaded for other hours."""
        return any(cell.state == "none" for line in self.lines if not line.unwanted for cell in line.cells)

    @property
    def without(self) -> tuple[str, ...]:
        """Regions that were added after this run was downloaded."""
        return tuple(line.region for line in self.lines if line.unwanted)


def run_grid(
    context: Context, model: Model, record: RunRecord, wanted: Sequence[str], visible: Collection[str] | None
) -> RunGrid:
    """The grid of a run, from the catalogue alone; reads no files."""
    hours = context.catalogue.hours(record.ref)
    tiles = [one for one in context.catalogue.tiles(record.ref, lost=True) if visible is None or one.region in visible]
    by_place = {(one.region, one.hour): one for one in tiles}
    asked = {name for hour in hours.values() for name in hour.regions if visible is None or name in visible}
    names = sorted({*wanted, *asked, *(one.region for one in tiles)})
    columns = tuple(sorted({*record.hours, *hours}))
    states = _Judge(model, record, hours, by_place, datetime.now(UTC))
    lines = []
    for name in names:
        cells = tuple(states.cell(name, hour) for hour in columns)
        lines.append(RegionLine(name, cells, sum(cell.state == "built" for cell in cells)))
    built = sum(line.built for line in lines)
    return RunGrid(
        record.model_id,
        record.run_id,
        record.state,
        columns,
        tuple(lines),
        built,
        sum(cell.state != "none" for line in lines for cell in line.cells),
        record.first_seen_at,
        sum(one.bytes for one in tiles if one.lost_at is None),
    )


@dataclass(frozen=True, slots=True)
class _Judge:
    model: Model
    record: RunRecord
    hours: Mapping[int, HourRecord]
    tiles: Mapping[tuple[str, int], TileRecord]
    now: datetime

    def cell(self, region: str, hour: int) -> Cell:
        state = self._state(region, hour)
        return Cell(hour, state, SIGNS[state], f"{region}, hour {hour}: {MEANINGS[state]}")

    def _state(self, region: str, hour: int) -> CellState:
        tile, known = self.tiles.get((region, hour)), self.hours.get(hour)
        if tile is not None:
            return "built" if tile.lost_at is None else "failed"
        if known is None:
            return self._expected(hour)
        if known.error:
            return "failed"
        if known.state == "published":
            return "published"
        return "building" if region in known.regions else "none"

    def _expected(self, hour: int) -> CellState:
        if hour not in self.record.hours:
            return "none"
        if self.record.state == "given_up":
            return "failed"
        if is_partial(self.model, self.record):
            return "waiting"
        return "late" if self.now > self.model.expected_at(self.record.ref.time, hour).late else "waiting"
