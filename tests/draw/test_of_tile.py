"""From a tile on disk to a drawing."""

import io
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from gribmill.draw.errors import DrawError
from gribmill.draw.map.plane import plane_of
from gribmill.draw.of_tile import barbs_of, drawable_of, main_variable, palette_of
from gribmill.draw.terminal.picture import draw_terminal
from gribmill.tiles.errors import TileError
from gribmill.tiles.read.tile import Tile, read_tile
from tests.tiles.make_tile import GFS, Fields, make_tile

WIND = {"units": "m s-1", "long_name": "wind", "level": "10 m above ground"}


@pytest.fixture
def tile(tmp_path: Path) -> Tile:
    fields: Fields = {"t2m": (285.15, {}), "u10": (3.0, WIND), "v10": (4.0, WIND)}
    return read_tile(make_tile(tmp_path, fields))


def test_a_projected_tile_keeps_its_grid_words_and_palette(tile: Tile) -> None:
    field = drawable_of(tile, "t2m")
    assert (field.model, field.run, field.hour, field.palette) == ("hrrr", "2023-07-22 06Z", 1, "temperature")
    lat, lon = tile.latlon()
    row, column = plane_of(field).project(lat[3:4, 5], lon[3:4, 5])
    assert row[0] == pytest.approx(3, abs=1e-6) and column[0] == pytest.approx(5, abs=1e-6)


def test_a_regular_tile_is_drawn_in_degrees(tmp_path: Path) -> None:
    field = drawable_of(read_tile(make_tile(tmp_path, {"t2m": (285.15, {})}, grid=GFS, model="gfs")), "t2m")
    assert field.lat.ndim == 1 and field.grid is None


def test_wind_speed_is_computed_from_its_components(tile: Tile) -> None:
    field = drawable_of(tile, "ws10")
    assert np.unique(field.values).tolist() == [5.0] and field.palette == "wind" and field.units == "m s-1"
    assert field.heading == "Wind speed at 10 m above ground"


def test_barbs_are_the_tiles_winds(tile: Tile) -> None:
    barbs = barbs_of(tile)
    assert np.unique(barbs.u).tolist() == [3.0] and np.unique(barbs.v).tolist() == [4.0]


def test_absent_variables_and_winds_are_named(tile: Tile) -> None:
    with pytest.raises(TileError, match="has no variable refc; it has t2m, u10, v10"):
        drawable_of(tile, "refc")
    assert main_variable(tile) == "t2m"
    with pytest.raises(DrawError, match="no u_500 and v_500 for barbs; levels with both: 10"):
        barbs_of(tile, "_500")


def test_cell_statistics_and_unknown_variables_have_palettes() -> None:
    assert palette_of("refc_max") == "reflectivity" and palette_of("t_850") == "temperature_upper"
    assert palette_of("g2_0_2_220_c7_l108") == "generic"


def test_a_tile_is_shown_in_the_terminal(tile: Tile) -> None:
    file = io.StringIO()
    draw_terminal(drawable_of(tile, "t2m"), Console(file=file, width=80))
    assert "HRRR  2023-07-22 06Z  +001 h" in file.getvalue() and "max 12.0" in file.getvalue()
