"""The paths of tiles on the command line."""

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
    """`ne/*.npz` includes the grid file, which is not a tile. If it is named alone, reading it explains that."""
    return [path for path in paths if path.name != GRID_FILE] or list(paths)
