"""Named regions: the built-in ones and the user's own."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Protocol

from gribmill.config_file import expand_user
from gribmill.identity import IdentityError, check_region_name
from gribmill.regions.box import Box
from gribmill.regions.errors import RegionError
from gribmill.regions.tile_options import ENCODINGS, METHODS, Encoding, Method


class RegionTable(Protocol):
    """A region defined by the user: [regions.NAME] in gribmill.toml."""

    @property
    def box(self) -> Sequence[float] | None: ...
    @property
    def geojson(self) -> Path | None: ...
    @property
    def feature(self) -> str | None: ...
    @property
    def title(self) -> str | None: ...
    @property
    def resolution(self) -> float | None: ...
    @property
    def method(self) -> Method | None: ...
    @property
    def encoding(self) -> Encoding: ...


@dataclass(frozen=True, slots=True)
class Region:
    """A named box, and how its tiles are made: on the model's grid, or regridded to `resolution` degrees."""

    name: str
    box: Box
    title: str = ""
    resolution: float | None = None
    method: Method | None = None
    encoding: Encoding = "fast"

    def __post_init__(self) -> None:
        try:
            check_region_name(self.name)
        except IdentityError as error:
            raise RegionError(str(error)) from None
        if self.resolution is not None and not 0.001 <= self.resolution <= 30:
            raise RegionError(f"region {self.name}: resolution is in degrees, 0.001 to 30, not {self.resolution:g}")
        if self.method is not None and self.method not in METHODS:
            raise RegionError(f"region {self.name}: method is one of {', '.join(METHODS)}")
        if self.method is not None and self.resolution is None:
            raise RegionError(
                f"region {self.name}: method = {self.method!r} needs a resolution; without it the model's grid is kept"
            )
        if self.encoding not in ENCODINGS:
            raise RegionError(f"region {self.name}: encoding is one of {', '.join(ENCODINGS)}")


@lru_cache(maxsize=1)
def built_in_regions() -> Mapping[str, Region]:
    """The built-in regions, in the order of regions.toml."""
    tables = tomllib.loads(files("gribmill.regions").joinpath("regions.toml").read_text(encoding="utf-8"))
    return {name: Region(name, Box(*table["box"]), table["title"]) for name, table in tables.items()}


def load_regions(extra: Mapping[str, RegionTable] | None = None) -> dict[str, Region]:
    """Built-in regions and the user's own (`settings.regions`), which take precedence."""
    own = {name: user_region(name, settings) for name, settings in (extra or {}).items()}
    return {**built_in_regions(), **own}


def user_region(name: str, settings: RegionTable) -> Region:
    """One region from the settings. Raises a RegionError that names it and says what is wrong."""
    try:
        box = _box(settings)
    except RegionError as error:
        raise RegionError(f"region {name}: {error}") from None
    return Region(
        name=name,
        box=box,
        title=settings.title or name,
        resolution=settings.resolution,
        method=settings.method,
        encoding=settings.encoding,
    )


def _box(settings: RegionTable) -> Box:
    if (settings.box is None) == (settings.geojson is None):
        raise RegionError('give either box = [west, south, east, north] or geojson = "file"')
    if settings.geojson is not None:
        from gribmill.regions.geojson import box_of_geojson  # late: it loads NumPy

        return box_of_geojson(expand_user(settings.geojson), settings.feature)
    assert settings.box is not None
    if settings.feature is not None:
        raise RegionError("feature names a part of a GeoJSON file, but a box is given")
    if len(settings.box) != 4:
        raise RegionError(f"box has {len(settings.box)} numbers; it takes [west, south, east, north]")
    return Box(*settings.box)


def region_named(regions: Mapping[str, Region], name: str) -> Region:
    """The region with that name. Otherwise raises a RegionError that suggests similar names."""
    if name in regions:
        return regions[name]
    near = difflib.get_close_matches(name, regions, n=3)
    hint = f"did you mean {', '.join(near)}?" if near else "`gribmill regions list` shows them all"
    raise RegionError(f"there is no region {name!r}; {hint}")
