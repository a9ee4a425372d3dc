"""NCEP's grid template 3.32769, on which RAP computes: places against PROJ, winds against neighbouring points."""

from __future__ import annotations

import importlib.util
import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gribmill
from gribmill.grib.decode.field import Field, fields, read_fields
from gribmill.grib.sections import Sections2, sections2
from tests.make_grib import GRIDS, make_message
from tests.real_files import real

RAP = "noaa/rap.20230910.t00z.f001.TSOIL.gdt32769.grib2"
PROJ = Path(__file__).parents[2] / "regions" / "proj_process.py"


def number(field: Field, first: int) -> float:
    octets = field.sections.grid[first - 1 : first + 3]
    size = int.from_bytes(octets, "big") & 0x7FFFFFFF
    return (-size if octets[0] & 0x80 else size) / 1e6


def test_corners_of_rap_are_where_its_section_says() -> None:
    field = next(read_fields(real(RAP)))
    ny, nx = field.grid.shape
    assert (ny, nx) == (834, 953)
    for (j, i), (lat_octet, lon_octet), tolerance in (((0, 0), (47, 51), 2e-6), ((ny - 1, nx - 1), (73, 77), 2e-4)):
        lat, lon = field.grid.latlon(j, i)
        assert lat == pytest.approx(number(field, lat_octet), abs=tolerance)
        assert (lon - number(field, lon_octet) + 180) % 360 - 180 == pytest.approx(0, abs=tolerance)
    assert field.grid_relative_winds
    # The true increment, of 13.545 km on WRF's sphere of 6370 km.
    assert field.grid.x[1] - field.grid.x[0] == pytest.approx(math.degrees(13545 / 6_370_000), rel=1e-5)


@pytest.mark.witness
def test_every_point_of_rap_is_where_proj_puts_it() -> None:
    if importlib.util.find_spec("pyproj") is None:
        pytest.skip("pyproj is not installed (dependency group `witness`)")
    field = next(read_fields(real(RAP)))
    ny, nx = field.grid.shape
    centre = number(field, 56), number(field, 60)
    j, i = (part.ravel() for part in np.mgrid[0:ny:17, 0:nx:17])
    words = f"+proj=ob_tran +o_proj=longlat +o_lat_p={90 - centre[0]} +o_lon_p=0 +lon_0={centre[1]}"
    question = {"proj": f"{words} +R=6371229 +type=crs", "cf": None}
    question |= {"x": field.grid.x[i].tolist(), "y": field.grid.y[j].tolist()}
    asked: Any = json.dumps([question])
    done = subprocess.run([sys.executable, str(PROJ)], input=asked, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    ((witness,),) = json.loads(done.stdout)
    lat, lon = field.grid.latlon(j, i)
    assert np.abs(lat - np.array(witness["lat"])).max() < 1e-9
    assert np.abs((lon - np.array(witness["lon"]) + 180) % 360 - 180).max() < 1e-9


def rap_section(nx: int, ny: int, first: tuple[float, float], centre: tuple[float, float]) -> bytes:
    """A grid section as RAP writes it, for a smaller grid."""
    earth = bytes((6, 255)) + b"\xff" * 4 + b"\xff" + b"\xff" * 4 + b"\xff" + b"\xff" * 4
    head = bytes(1) + (nx * ny).to_bytes(4, "big") + bytes(2) + (32769).to_bytes(2, "big") + earth

    def angle(degrees: float) -> bytes:
        micro = round(abs(degrees) * 1e6)
        return (micro | (0x80000000 if degrees < 0 else 0)).to_bytes(4, "big")

    body = nx.to_bytes(4, "big") + ny.to_bytes(4, "big") + bytes(4) + b"\xff" * 4
    body += angle(first[0]) + angle(first[1]) + bytes((56,)) + angle(centre[0]) + angle(centre[1])
    body += angle(1.0) + angle(1.0) + bytes((64,)) + bytes(8)
    section = b"\3" + head + body
    return (4 + len(section)).to_bytes(4, "big") + section


def rap_message(name: str, value: float, section: bytes, nx: int, ny: int) -> bytes:
    """A message on RAP's kind of grid: that of another grid with its section 3 replaced."""
    plain = make_message(GRIDS["rrfs-na-small"], name, value, packing="grid_simple")
    (part,) = sections2(plain)
    packing = bytearray(part.packing)
    packing[5:9] = (nx * ny).to_bytes(4, "big")
    return Sections2(
        part.discipline, part.identification, part.local, section, part.product, bytes(packing), part.bitmap, part.data
    ).message()


def test_winds_are_rotated_to_east_and_north(tmp_path: Path) -> None:
    nx, ny, centre = 21, 15, (54.0, 254.0)
    # The corner 10° west and 7° south of the centre, turned by the centre's latitude.
    tilt, phi, lam = (math.radians(angle) for angle in (centre[0], -7.0, -10.0))
    x, y, z = math.cos(phi) * math.cos(lam), math.cos(phi) * math.sin(lam), math.sin(phi)
    x, z = math.cos(tilt) * x - math.sin(tilt) * z, math.sin(tilt) * x + math.cos(tilt) * z
    corner = math.degrees(math.asin(z)), (math.degrees(math.atan2(y, x)) + centre[1]) % 360
    section = rap_section(nx, ny, corner, centre)
    path = tmp_path / "rap.grib2"
    path.write_bytes(b"".join(rap_message(name, value, section, nx, ny) for name, value in (("10u", 5), ("10v", 0))))
    (u, _) = fields(path.read_bytes(), "f")
    lat, lon = u.grid.latlon(np.arange(ny)[:, None], np.arange(nx)[None, :])
    assert (lat[ny // 2, nx // 2], lon[ny // 2, nx // 2]) == pytest.approx((54.0, -106.0), abs=1e-5)
    (result,) = gribmill.cut(path, gribmill.Box(-179, 20, -20, 89), tmp_path, model="mine")
    tile = gribmill.open_tile(result.tiles[0].path)
    # The direction in which columns increase, from a small step along the row.
    ahead = u.grid.latlon(np.arange(ny)[:, None], np.arange(nx)[None, :] + 1e-4)
    east = (ahead[1] - lon) * np.cos(np.radians(lat))
    north = ahead[0] - lat
    size = np.hypot(east, north)
    assert np.abs(tile["u10"].values - 5 * east / size).max() < 1e-3
    assert np.abs(tile["v10"].values - 5 * north / size).max() < 1e-3
    assert np.abs(tile["v10"].values).max() > 0.5
