"""A tile: checked when it is opened, with arrays read on demand."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from gribmill.arrays import Floats, Values
from gribmill.checked.table import plain
from gribmill.grib.names.lexicon import lexicon
from gribmill.grib.names.time_range import RUN, base_name, split_window
from gribmill.regions.grids import Grid
from gribmill.regions.grids.columns import goes_round
from gribmill.regions.grids.grid import KM_PER_DEGREE
from gribmill.storage.layout import GRID_FILE
from gribmill.storage.object_path import ObjectPath, StoredPath
from gribmill.storage.object_ranges import ByteSpan
from gribmill.tiles.errors import TileError
from gribmill.tiles.format.meta import COORDINATES, META, Meta, VariableMeta
from gribmill.tiles.format.meta_member import read_meta, read_meta_grid
from gribmill.tiles.format.npz_reader import Archive, Identity, identity_of
from gribmill.tiles.format.requantize import dequantize
from gribmill.tiles.format.tile_grid import cached_grid, window_latlon

FLOAT32, UINT16 = np.dtype(np.float32), np.dtype(np.uint16)


@dataclass(frozen=True, slots=True)
class ReadAhead:
    """The variables and points that will be read from a tile."""

    # Not compared, so that the cache key of a tile does not depend on what is read ahead.
    names: tuple[str, ...] = field(compare=False)
    spans: tuple[tuple[int, int], ...] = field(compare=False)

    def byte_spans(self, archive: Archive, like: Tile) -> list[ByteSpan]:
        """The byte ranges of an archive that contain these points, assuming that it is like this tile."""
        packed = {name for name, meta in like.meta.variables.items() if meta.packed is not None}
        plain = [name for name in self.names if name not in packed]
        found: list[ByteSpan] = []
        for begin, end in self.spans:
            found += archive.part_spans(plain, like.shape, FLOAT32, begin, end)
            rows = _whole_rows(begin, end, like.shape[1])
            found += archive.part_spans(packed.intersection(self.names), like.shape, UINT16, *rows)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Tile:
    """One region at one hour. `y` and `x` are degrees on regular grids and metres on projected ones."""

    path: StoredPath
    meta: Meta
    archive: Archive
    y: Floats
    x: Floats

    @property
    def names(self) -> list[str]:
        """The variables, sorted."""
        return sorted(self.meta.variables)

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return self.meta.grid.shape

    @property
    def regular(self) -> bool:
        """True if rows are parallels and columns meridians."""
        return self.meta.grid.kind == "regular"

    @property
    def grid(self) -> Grid:
        """The source grid."""
        return _source_grid(self)

    @property
    def ring(self) -> bool:
        """True if the tile spans all longitudes, so that its first column follows its last."""
        if self.regular:
            return len(self.x) > 1 and goes_round(len(self.x), float(self.x[1] - self.x[0]))
        grid = self.grid
        return grid.wraps and self.shape[1] == grid.shape[1]

    def find(self, name: str) -> str | None:
        """The name of a variable's array: that name, its name in another version, or one with the same time range."""
        if name in self.meta.variables:
            return name
        others = (one for one in lexicon().other_names(name, self.meta.model) if one in self.meta.variables)
        return next(others, None) or _over_time(name, self.meta.variables)

    def read(self, name: str, *, copy: bool = True) -> Values:
        """One variable: rows from south to north, columns from west to east, NaN where the source has no value.

        Without `copy` it may be read-only.
        """
        stored = self.find(name)
        if stored is None:
            raise TileError(f"{self.path} has no variable {name}; it has {', '.join(self.names) or 'none'}")
        name = stored
        packed = self.meta.variables[name].packed
        array = self.archive.read(name, copy=copy)
        expected = np.float32 if packed is None else np.uint16
        if array.dtype != expected or array.shape != self.shape:
            raise TileError(f"{self.path}: {name} is {array.dtype}{array.shape}, not {expected.__name__}{self.shape}")
        return array if packed is None else dequantize(array, packed)

    def read_part(self, name: str, part: tuple[int | slice, ...]) -> Values:
        """`read(name)[part]`, possibly read-only; avoids reading other rows if possible."""
        name = self.find(name) or name
        rows, *columns = part or (slice(None),)
        wanted = range(self.shape[0])[rows if isinstance(rows, slice) else slice(rows, rows + 1 or None)]
        if name not in self.meta.variables or not 0 < len(wanted) < self.shape[0]:
            return np.asarray(self.read(name, copy=False)[part])
        first, last = sorted((wanted[0], wanted[-1]))
        found = self.read_rows([name], first, last + 1)[name][:: wanted.step]
        return np.asarray(found[(slice(None) if isinstance(rows, slice) else 0, *columns)])

    def read_rows(self, names: Sequence[str], first: int, stop: int) -> dict[str, Values]:
        """Some rows of these variables, without reading the rest if the tile has restart points."""
        width = self.shape[1]
        found = self.read_span(names, first * width, stop * width)
        return {name: points.reshape(-1, width) for name, points in found.items()}

    def read_span(self, names: Sequence[str], begin: int, end: int) -> dict[str, Values]:
        """The points from `begin` to `end` of these variables, in row order."""
        packed = {name: how for name in names if (how := self.meta.variables[name].packed) is not None}
        plain = [name for name in names if name not in packed]
        found = self.archive.read_span(plain, self.shape, FLOAT32, begin, end)
        if packed:
            # Integers are cumulative sums of their row.
            width = self.shape[1]
            first, stop = _whole_rows(begin, end, width)
            rows = self.archive.read_span(list(packed), self.shape, UINT16, first, stop)
            for name, integers in rows.items():
                values = dequantize(integers.reshape(-1, width), packed[name])
                found[name] = values.reshape(-1)[begin - first : end - first]
        return found

    def latlon(self) -> tuple[Floats, Floats]:
        """2-D latitudes and longitudes of the points; from the grid.npz next to the tile if it matches."""
        if self.regular:
            lat, lon = np.broadcast_arrays(self.y[:, None], self.x[None, :])
            return lat, lon
        return _stored_latlon(self) or window_latlon(self.meta.grid, str(self.path))

    def locate(self, lat: npt.ArrayLike, lon: npt.ArrayLike) -> tuple[Floats, Floats]:
        """Fractional (row, column) of positions in this tile; NaN if they are outside."""
        rows, columns = self._indices(np.asarray(lat, np.float64), np.asarray(lon, np.float64))
        height, width = self.shape
        # The outermost points extend half a cell beyond their position.
        inside = (rows >= -0.5) & (rows <= height - 0.5) & (columns >= -0.5) & (columns <= width - 0.5)
        return np.where(inside, rows, np.nan), np.where(inside, columns, np.nan)

    def _indices(self, lat: Floats, lon: Floats) -> tuple[Floats, Floats]:
        if self.regular:
            cell = self.meta.grid.cell_km / KM_PER_DEGREE
            lon = self.x[0] + (lon - self.x[0]) % 360.0
            columns = _fractional(self.x, lon, cell)
            # A position just west of the first column appears almost 360° east of it.
            from_west = _fractional(self.x, lon - 360.0, cell)
            return _fractional(self.y, lat, cell), np.where(columns > len(self.x) - 0.5, from_west, columns)
        grid = self.grid
        rows, columns = grid.index(lat, lon)
        columns = columns - self.meta.grid.cols[0][0]
        if grid.wraps:
            columns = np.mod(columns + 0.5, grid.shape[1]) - 0.5
        return rows - self.meta.grid.rows[0], columns


# Its definition is long, and places are looked up in the first tile of a run.
@lru_cache(maxsize=16)
def _source_grid(tile: Tile) -> Grid:
    return cached_grid(tile.meta.grid, str(tile.path))


def read_tile(
    path: str | os.PathLike[str] | ObjectPath, like: Tile | None = None, ahead: ReadAhead | None = None
) -> Tile:
    """Open a tile and check its directory, `meta` and coordinates. Raises TileError if anything is wrong.

    Coordinates are taken from `like` if their checksums are equal, as in the hours of a run. From an object store, the
    values that `ahead` names are read along with them.
    """
    archive = Archive(path)
    if archive.path.name == GRID_FILE:
        raise TileError(f"{archive.path} is not a tile: it has the coordinates of the tiles next to it")
    if archive.remote:
        _read_ahead(archive, like, ahead)
    meta = read_meta(archive)
    expected = {META, *COORDINATES[meta.grid.kind], *meta.variables}
    if archive.entries.keys() != expected:
        odd = ", ".join(sorted(archive.entries.keys() ^ expected))
        raise TileError(f"{archive.path}: its arrays and its meta disagree about {odd}")
    tile = Tile(archive.path, meta, archive, *_axes(archive, meta, like))
    if ahead is None:
        archive.release()
    return tile


def _read_ahead(archive: Archive, like: Tile | None, ahead: ReadAhead | None) -> None:
    """Reads everything required in one or few requests. Assumes the grid of `like`, which is usually right."""
    axes = {name for names in COORDINATES.values() for name in names}
    own = [name for name in axes & archive.entries.keys() if like is None or not _same(archive, like, name)]
    spans = archive.member_spans([META, *own])
    if ahead is not None and like is not None:
        spans += ahead.byte_spans(archive, like)
    archive.read_ahead(spans)


def _same(archive: Archive, like: Tile, name: str) -> bool:
    """Whether both have the same array with this name, according to its checksum."""
    known = like.archive.entries
    return name in known and archive.entries[name].content == known[name].content


def _whole_rows(begin: int, end: int, width: int) -> tuple[int, int]:
    return begin // width * width, -(-end // width) * width


def cached_tile(path: StoredPath, like: Tile | None = None, ahead: ReadAhead | None = None) -> Tile:
    """Like `read_tile`, with a cache: an unchanged file is not read again."""
    try:
        tile = _kept(path, identity_of(path.stat()), like, ahead)
    except OSError:
        return read_tile(path, like, ahead)
    if ahead is not None and tile.archive.remote:
        tile.archive.read_ahead(ahead.byte_spans(tile.archive, tile))
    return tile


@lru_cache(maxsize=256)
def _kept(path: StoredPath, identity: Identity, like: Tile | None, ahead: ReadAhead | None) -> Tile:
    return read_tile(path, like, ahead)


def _axes(archive: Archive, meta: Meta, like: Tile | None) -> tuple[Floats, Floats]:
    names, sizes = COORDINATES[meta.grid.kind], meta.grid.shape
    if like is not None and like.meta.grid == meta.grid and all(_same(archive, like, name) for name in names):
        return like.y, like.x
    y, x = (_axis(archive, name, length) for name, length in zip(names, sizes, strict=True))
    return y, x


def _axis(archive: Archive, name: str, length: int) -> Floats:
    array = archive.read(name)
    if array.dtype != np.float64 or array.shape != (length,) or length == 0:
        raise TileError(f"{archive.path}: {name} is {array.dtype}{array.shape}, not {length} float64 numbers")
    if not np.isfinite(array).all() or (np.diff(array) <= 0).any():
        raise TileError(f"{archive.path}: {name} is not strictly increasing")
    # Shared by the tiles of a run.
    array.flags.writeable = False
    return array


def _fractional(axis: Floats, values: Floats, cell: float) -> Floats:
    """Fractional indices of values on an increasing axis, extrapolated with the outermost cells."""
    if len(axis) == 1:
        return np.asarray((values - axis[0]) / cell)
    inside = np.interp(values, axis, np.arange(len(axis), dtype=np.float64))
    first, last = axis[1] - axis[0], axis[-1] - axis[-2]
    below = (values - axis[0]) / first
    above = len(axis) - 1 + (values - axis[-1]) / last
    return np.where(values < axis[0], below, np.where(values > axis[-1], above, inside))


def _stored_latlon(tile: Tile) -> tuple[Floats, Floats] | None:
    """lat and lon of the grid.npz next to the tile; None if absent, damaged or of another window."""
    try:
        path = tile.path.parent / GRID_FILE
        archive = _grid_archive(path, identity_of(path.stat()))
        if read_meta_grid(archive) != plain(tile.meta.grid):
            return None
        lat, lon = archive.read("lat"), archive.read("lon")
    except (TileError, OSError):
        return None
    return (lat, lon) if lat.shape == lon.shape == tile.shape else None


@lru_cache(maxsize=64)
def _grid_archive(path: StoredPath, identity: Identity) -> Archive:
    return Archive(path)


def _over_time(name: str, variables: Mapping[str, VariableMeta]) -> str | None:
    """The array with the time range in the name: `tp_6h` may be `tp` at hour 6 and `tp_bucket` at hour 12."""
    if name.endswith(RUN):
        total = base_name(name)
        return total if total in variables and variables[total].step_minutes[0] == 0 else None
    found = split_window(name)
    if found is None:
        return None
    base, minutes = found
    for other, item in variables.items():
        start, end = item.step_minutes
        if end - start == minutes and item.statistic != "instant" and base_name(other) == base:
            return other
    return None
