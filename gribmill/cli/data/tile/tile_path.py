"""Paths of tiles as command-line arguments."""

from __future__ import annotations

from pathlib import Path

import click

from gribmill.storage.layout import GRID_FILE
from gribmill.storage.object_path import StoredPath, is_url, object_path

GRIB = click.Path(dir_okay=False, path_type=Path)


class TilePathType(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.4
    """A file, or the URL of a tile in an object store."""

    name = "tile"

    def convert(self, value: str | StoredPath, param: click.Parameter | None, ctx: click.Context | None) -> StoredPath:
        if not isinstance(value, str):
            return value
        if is_url(value):
            return object_path(value)
        path: Path = GRIB.convert(value, param, ctx)
        return path


TILE = TilePathType()


def without_grid(paths: tuple[StoredPath, ...]) -> list[StoredPath]:
    """Drop the grid file, which is not a tile but matches `ne/*.npz`. Given alone, it is kept: reading it gives an
    explanation."""
    return [path for path in paths if path.name != GRID_FILE] or list(paths)
