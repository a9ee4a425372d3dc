"""The grids that models publish on, by name."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files
from typing import Any

from gribmill.regions.grids.grid import Grid
from gribmill.regions.grids.spec import grid_from_spec


@dataclass(frozen=True)
class NamedGrid:
    """A grid that a model is published on. Built on first use: a scan needs only its model's grid."""

    name: str
    title: str
    spec: Mapping[str, Any]

    @cached_property
    def grid(self) -> Grid:
        return grid_from_spec(self.spec)


@lru_cache(maxsize=1)
def named_grids() -> tuple[NamedGrid, ...]:
    """All grids in grids.toml, in order."""
    tables = tomllib.loads(files("gribmill.regions").joinpath("grids.toml").read_text(encoding="utf-8"))
    return tuple(NamedGrid(name, table.pop("title"), table) for name, table in tables.items())
