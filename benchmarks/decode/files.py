"""The files that are decoded: made ones like operational hours, and real ones where they are at hand."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from pathlib import Path

from tests import make_grib
from tests.real_files import real_files

REAL = {
    "HRRR, real": ("noaa/hrrr.*.grib2",),
    "GFS 0.25°, real": ("noaa/gfs.20251201*", "noaa/gfs.20200325*", "noaa/gfs.20201026*"),
    "ECMWF CCSDS, real": ("ecmwf/aifs-single*.grib2", "ecmwf/ifs.20230711*.grib2", "ecmwf/ifs.20260310*.grib2"),
}
PRESSURE = {"typeOfLevel": "isobaricInhPa"}
# A field without weather in it says nothing about decoding.
HRRR = [row for row in make_grib.HRRR_FIELDS if row[0] != "csnow"][:12]


def all_files() -> dict[str, Path]:
    """Title and path of each file; made once, in the temporary folder."""
    folder = Path(tempfile.gettempdir()) / f"gribmill-bench-{os.getuid()}"
    folder.mkdir(exist_ok=True)
    recipe = hashlib.sha256(Path(make_grib.__file__).read_bytes() + Path(__file__).read_bytes()).hexdigest()[:12]
    found = {
        "HRRR, 12 made (5.3)": _made(folder / f"decode-hrrr-{recipe}.grib2", "hrrr"),
        "IFS, 12 made (CCSDS)": _made(folder / f"decode-ifs-{recipe}.grib2", "ecmwf"),
    }
    for title, patterns in REAL.items():
        paths = [path for pattern in patterns for path in real_files(pattern)]
        if paths:
            joined = folder / f"decode-{title.split()[0].strip(',').lower()}-real.grib2"
            joined.write_bytes(b"".join(path.read_bytes() for path in paths))
            found[title] = joined
    return found


def _made(path: Path, grid: str) -> Path:
    if path.is_file():
        return path
    sys.stderr.write(f"making {path.name} …\n")
    shape = make_grib.GRIDS[grid].shape
    messages = []
    for seed, (name, mean, span, more) in enumerate(HRRR):
        values = make_grib.smooth_values(shape, seed=seed, mean=mean, span=span)
        if name in make_grib.NEVER_NEGATIVE:
            values = values.clip(0)
        if grid == "ecmwf":
            packed = {"packing": "grid_ccsds", "bits": 16, "keys": PRESSURE | {"level": 1000 - 50 * seed}}
            name = "t"
        else:
            packed = {"packing": "grid_complex_spatial_differencing", "decimal": more.get("decimal", 1)}
        messages.append(make_grib.make_message(grid, name, values, **packed))
    part = path.with_suffix(".part")
    make_grib.write(part, messages)
    return part.replace(path)
