"""The grids that models publish on, by name."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from gribmill.regions.grids.grid import Grid
from gribmill.regions.grids.spec import grid_from_spec


@dataclass(frozen=True, slots=True)
class NamedGrid:
    """A model's grid as its centre publishes it."""

    name: str
    title: str
    grid: Grid


@lru_cache(maxsize=1)
def named_grids() -> tuple[NamedGrid, ...]:
    """Every grid of grids.toml, in its order."""
    tables = tomllib.loads(files("gribmill.regions").joinpath("grids.toml").read_text(encoding="utf-8"))
    return tuple(NamedGrid(name, table.pop("title"), grid_from_spec(table)) for name, table in tables.items())
