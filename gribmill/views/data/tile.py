"""Tiles: written, read, compared, checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Self

from gribmill.storage.object_path import StoredPath
from gribmill.tiles.format.meta import GridRecord, RegionRecord, SkippedMessage, SourceFile, VariableMeta
from gribmill.views.view import ForecastTime, View

if TYPE_CHECKING:
    from gribmill.tiles.build.tile_writer import BuiltTile
    from gribmill.tiles.check.diff import Difference
    from gribmill.tiles.check.verify import TileCheck
    from gribmill.tiles.read.tile import Tile


class BuiltTileView(View):
    """A tile that was written. `absent` are requested variables that are not in the file."""

    model: str
    run: str
    hour: int | float
    region: str
    variables: tuple[str, ...]
    absent: tuple[str, ...]
    bytes: int
    sha256: str
    path: str

    @classmethod
    def of(cls, built: BuiltTile) -> Self:
        meta = built.meta
        return cls(
            model=meta.model,
            run=meta.run,
            hour=meta.minutes / 60 if meta.minutes % 60 else meta.hour,
            region=meta.region.name,
            variables=tuple(sorted(meta.variables)),
            absent=meta.absent,
            bytes=built.bytes,
            sha256=built.sha256,
            path=str(built.path),
        )


class TileView(View):
    """A tile on disk with all its metadata (docs/tiles.md explains them)."""

    path: str
    bytes: int
    hour: int
    run_time: ForecastTime
    valid_time: ForecastTime
    format: Literal[1]
    gribmill: str
    model: str
    run: str
    minutes: int
    region: RegionRecord
    grid: GridRecord
    variables: dict[str, VariableMeta]
    absent: tuple[str, ...]
    skipped: tuple[SkippedMessage, ...]
    duplicates: tuple[SkippedMessage, ...]
    winds: Literal["earth"]
    source: SourceFile
    attribution: str | None
    generation: int | None
    identity: dict[str, str | int | float]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, tile: Tile) -> Self:
        return cls.copy_of(tile.meta, path=str(tile.path), bytes=tile.archive.size)


class TileDifferenceView(View):
    """A variable or metadata key in which two tiles differ; the numbers refer to the points that differ."""

    name: str
    why: str
    points: int
    largest: float | None
    mean: float | None

    @classmethod
    def of(cls, difference: Difference) -> Self:
        return cls.copy_of(difference)


class CheckView(View):
    """One check of a tile. `good` is null if the check could not be made."""

    what: str
    good: bool | None
    detail: str


class TileCheckView(View):
    """All checks of one tile, which is good if none of them failed. `repaired`: whether a damaged one is good again."""

    tile: str
    good: bool
    repaired: bool | None
    checks: tuple[CheckView, ...]

    @classmethod
    def of(cls, path: StoredPath, checks: Sequence[TileCheck], repaired: bool | None = None) -> Self:
        return cls(
            tile=str(path),
            repaired=repaired,
            good=not any(check.good is False for check in checks),
            checks=tuple(CheckView.copy_of(check) for check in checks),
        )
