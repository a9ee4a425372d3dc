"""Creates grids from plain values, as in tile metadata and TOML, and the grids that models publish on, by name."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from gribmill.regions.errors import RegionError
from gribmill.regions.grids.gaussian import GaussianGrid
from gribmill.regions.grids.grid import Earth, Grid
from gribmill.regions.grids.lambert import LambertGrid
from gribmill.regions.grids.latlon import LatLonGrid
from gribmill.regions.grids.mercator import MercatorGrid
from gribmill.regions.grids.plane import PlaneGrid
from gribmill.regions.grids.polar_stereographic import PolarStereographicGrid
from gribmill.regions.grids.rotated_latlon import RotatedLatLonGrid

KINDS: dict[str, type[Any]] = {
    "latlon": LatLonGrid,
    "gaussian": GaussianGrid,
    "lambert": LambertGrid,
    "polar_stereographic": PolarStereographicGrid,
    "mercator": MercatorGrid,
    "rotated_latlon": RotatedLatLonGrid,
}


def grid_from_spec(values: Mapping[str, Any]) -> Grid:
    """The grid described by `Grid.spec`.

    Projected grids may state `lat1`, `lon1` of the south-west point instead of `x0`, `y0`.
    """
    fields = dict(values)
    kind = KINDS.get(str(fields.pop("kind", None)))
    if kind is None:
        raise RegionError(f"a grid is one of {', '.join(KINDS)}, not {values.get('kind')!r}")
    try:
        a, b = (float(axis) for axis in fields.pop("earth"))
        fields["earth"] = Earth(a, b)
        make: Any = kind.at_corner if "lat1" in fields and issubclass(kind, PlaneGrid) else kind
        if make is not kind:
            fields |= {"lat": float(fields.pop("lat1")), "lon": float(fields.pop("lon1"))}
        grid: Grid = make(**fields)
    except (KeyError, TypeError, ValueError) as error:
        raise RegionError(f"these values make no grid of the kind {values.get('kind')}: {error}") from None
    return grid


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
    tables = tomllib.loads(Path(__file__).with_name("grids.toml").read_text(encoding="utf-8"))
    return tuple(NamedGrid(name, table.pop("title"), table) for name, table in tables.items())
