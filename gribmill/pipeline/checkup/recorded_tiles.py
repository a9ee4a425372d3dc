"""Verifies the tiles of whole runs against the catalogue, and in full."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gribmill.catalogue.records import TileRecord
from gribmill.errors import GribmillError
from gribmill.identity import RunRef, TileRef
from gribmill.pipeline.context import Context
from gribmill.storage.layout import TileFolder
from gribmill.storage.object_path import StoredPath
from gribmill.tiles.check.verify import TileCheck, verify
from gribmill.tiles.read.tile import read_tile

RECORD = "the record"


@dataclass(frozen=True, slots=True)
class TileOnRecord:
    """A tile that is in the catalogue, on disk, or both."""

    path: StoredPath
    ref: TileRef | None
    record: TileRecord | None

    def check(self, data: Path) -> list[TileCheck]:
        """All checks of the tile; a missing file fails the only one."""
        if not self.path.is_file():
            return [TileCheck("the file", False, "it is missing")]
        return [*self._against_record(), *verify(self.path, data=data)]

    def _against_record(self) -> Iterator[TileCheck]:
        """Compare size, generation and variables with the catalogue."""
        record = self.record
        if record is None:
            return
        size = self.path.stat().st_size
        if size != record.bytes:
            yield TileCheck(RECORD, False, f"the file has {size} bytes, {record.bytes} are recorded")
            return
        try:
            tile = read_tile(self.path)
        except GribmillError:
            return  # the file's own check reports what is wrong with it
        if absent := sorted({*record.variables} - {*tile.names}):
            yield TileCheck(RECORD, False, f"it lacks variables that are recorded: {', '.join(absent)}")
        elif (tile.meta.generation or 0) < record.generation:
            found = f"generation {tile.meta.generation or 0}"
            yield TileCheck(RECORD, False, f"it is of {found}, {record.generation} is recorded: an older file")
        else:
            yield TileCheck(RECORD, True, f"{size} bytes, generation {record.generation}")


def tiles_of_run(context: Context, run: RunRef) -> list[TileOnRecord]:
    """Every tile of a run that is in the catalogue or on disk, by region and hour."""
    records = {(one.region, one.hour): one for one in context.catalogue.tiles(run, lost=True)}
    found: dict[tuple[str, int, str], TileOnRecord] = {}
    for (region, hour), record in records.items():
        ref = run.hour(hour).tile(region)
        path = context.root.tile(ref)
        found[region, hour * 60, path.name] = TileOnRecord(path, ref, record)
    for folder in context.root.tile_folders(run.model_id, run.run_id):
        for minutes, path in folder.tiles().items():
            found.setdefault((folder.region, minutes, path.name), _unrecorded(run, folder, minutes, path))
    return [tile for _, tile in sorted(found.items())]


def _unrecorded(run: RunRef, folder: TileFolder, minutes: int, path: StoredPath) -> TileOnRecord:
    ref = run.hour(minutes // 60).tile(folder.region) if minutes % 60 == 0 else None
    return TileOnRecord(path, ref, None)


def runs_of(context: Context, model_id: str, run_id: str | None = None) -> list[RunRef]:
    """The runs of a model in the catalogue or on disk, newest first; only `run` if given."""
    known = {record.ref for record in context.catalogue.runs(model_id)} | context.root.runs(model_id)
    runs = sorted((run for run in known if run_id in (None, run.run_id)), key=lambda run: run.run_id)
    return runs[::-1]
