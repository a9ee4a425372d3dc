"""The paths of tiles on the command line."""

from __future__ import annotations

from pathlib import Path

import click

from gribmill.storage.layout import GRID_FILE

TILE = click.Path(dir_okay=False, path_type=Path)


def without_grid(paths: tuple[Path, ...]) -> list[Path]:
    """`ne/*.npz` includes the grid file, which is not a tile. If it is named alone, reading it explains that."""
    return [path for path in paths if path.name != GRID_FILE] or list(paths)
