"""A tile's field as something that can be drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gribmill.tiles.errors import TileError
from gribmill.tiles.grid_record import cached_grid
from gribmill.tiles.lexicon import lexicon
from gribmill.tiles.samples import USUAL
from gribmill.tiles.tile import Tile

if TYPE_CHECKING:
    from gribmill.tiles.draw.drawable import Barbs, Drawable

CELL_SUFFIXES = ("_mean", "_min", "_max")


def main_variable(tile: Tile) -> str:
    """What one looks at first: the temperature, or the first of the usual ones that is there."""
    if not tile.names:
        raise TileError(f"{tile.path} has no variable to draw")
    return next((name for name in USUAL if name in tile.meta.variables), tile.names[0])


def drawable_of(tile: Tile, name: str) -> Drawable:
    """One variable with its coordinates and the words for its title."""
    from gribmill.tiles.draw.drawable import Drawable

    values = tile.read(name)
    meta, quantity = tile.meta, tile.meta.variables[name]
    lat, lon = (tile.y, tile.x) if tile.regular else tile.latlon()
    return Drawable(
        values=values,
        lat=lat,
        lon=lon,
        units=quantity.units,
        long_name=quantity.long_name,
        name=name,
        palette=_palette(name),
        model=meta.model,
        run=meta.run,
        region=meta.region.title or meta.region.name,
        valid=meta.valid_time,
        hour=meta.hour,
        attribution=meta.attribution or "",
        grid=None if tile.regular else cached_grid(meta.grid, str(tile.path)),
        origin=(meta.grid.rows[0], meta.grid.cols[0][0]),
    )


def barbs_of(tile: Tile) -> Barbs:
    """The 10 m wind, or another one if the tile has only that."""
    from gribmill.tiles.draw.drawable import Barbs

    for u in ("u10", *tile.names):
        v = f"v{u[1:]}"
        if u.startswith("u") and u in tile.meta.variables and v in tile.meta.variables:
            return Barbs(tile.read(u), tile.read(v))
    raise TileError(f"{tile.path} has no wind components to draw barbs from; it has {', '.join(tile.names)}")


def _palette(name: str) -> str:
    variable = lexicon().get(name)
    for suffix in CELL_SUFFIXES:
        variable = variable or lexicon().get(name.removesuffix(suffix))
    return variable.palette if variable else "generic"
