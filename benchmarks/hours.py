"""The input files: generated hours of HRRR, GFS and IFS on their real grids, and real messages if available.

Each is made once, in the temporary folder, under a name that identifies how it was made.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.environment import SCRATCH
from tests import make_grib
from tests.real_files import REAL_GRIB, real_files

ENTIRE_ATMOSPHERE = {"typeOfFirstFixedSurface": 10}
SUM_OF_THE_HOUR = {"productDefinitionTemplateNumber": 8, "typeOfStatisticalProcessing": 1, "stepRange": "0-1"}
SUM = {"decimal": 3, "keys": SUM_OF_THE_HOUR}
SIMPLE = {"decimal": 2, "packing": "grid_simple"}
Row = tuple[str, float, float, dict[str, Any]]
# Common surface fields. NCEP packs HRRR complex with spatial differencing (5.3), its 10 m winds simple.
HRRR: tuple[Row, ...] = (
    ("2t", 285, 20, {"decimal": 2}),
    ("2d", 278, 15, {"decimal": 1}),
    ("10u", 2, 10, SIMPLE),
    ("10v", -1, 10, SIMPLE),
    ("gust", 8, 10, {"decimal": 1}),
    ("sp", 98000, 3000, {"decimal": -1}),
    ("tp", 0, 8, SUM),
    ("refc", 5, 40, {"decimal": 1, "keys": ENTIRE_ATMOSPHERE}),
    ("vis", 20000, 9000, {"decimal": -2}),
    ("cape", 200, 900, {"decimal": 0}),
    ("tcc", 50, 60, {"decimal": 0, "keys": ENTIRE_ATMOSPHERE}),
    ("csnow", 0, 0, {"decimal": 0}),
)
# The same, all packed by template 5.3, without the constant field.
MSLP: Row = ("mslet", 101300, 2000, {"decimal": -1})
GFS: tuple[Row, ...] = (
    *((*row[:3], {"decimal": 2} if row[3] is SIMPLE else row[3]) for row in HRRR if row[0] != "csnow"),
    MSLP,
)
PRESSURE = {"typeOfLevel": "isobaricInhPa"}
IFS: tuple[Row, ...] = (
    ("2t", 285, 20, {}),
    ("2d", 278, 15, {}),
    ("10u", 2, 10, {}),
    ("10v", -1, 10, {}),
    ("msl", 101300, 2000, {}),
    ("sp", 98000, 3000, {}),
    ("skt", 286, 25, {}),
    ("t", 270, 20, {"keys": PRESSURE | {"level": 850}}),
    ("t", 250, 20, {"keys": PRESSURE | {"level": 500}}),
    ("gh", 5500, 300, {"keys": PRESSURE | {"level": 500}}),
    ("u", 10, 30, {"keys": PRESSURE | {"level": 500}}),
    ("v", 1, 30, {"keys": PRESSURE | {"level": 500}}),
)
NEVER_NEGATIVE = {"gust", "tp", "vis", "cape", "tcc"}
CCSDS = {"packing": "grid_ccsds", "bits": 16}
ONE_TIME = {"dataDate": 20260901, "dataTime": 1200}


@dataclass(frozen=True, slots=True)
class Hour:
    """One file: what it is, and the model whose tiles are made of it."""

    key: str
    title: str
    model: str
    path: Path


def made(key: str) -> Path:
    """A generated hour of `hrrr`, `gfs` or `ifs`; `hrrr53` is HRRR with every field packed by template 5.3."""
    grid, rows, packing = {
        "hrrr": ("hrrr", HRRR, {}),
        "hrrr53": ("hrrr", GFS, {}),
        "gfs": ("gfs", GFS, {}),
        "ifs": ("ecmwf", IFS, CCSDS),
    }[key]

    def messages() -> list[bytes]:
        return [_message(grid, seed, row, packing) for seed, row in enumerate(rows)]

    return _file(key, repr((grid, rows, packing)) + Path(make_grib.__file__).read_text(), messages)


def decode_hours() -> list[Hour]:
    """What decoders are measured on."""
    found = [
        Hour("hrrr53", "HRRR, 12 made (5.3)", "hrrr", made("hrrr53")),
        Hour("gfs", "GFS 0.25°, 12 made (5.3)", "gfs", made("gfs")),
        Hour("ifs", "IFS 0.25°, 12 made (CCSDS)", "ifs", made("ifs")),
    ]
    return [*found, *real_hours()]


def tile_hours() -> list[Hour]:
    """What tiles are cut from."""
    found = [
        Hour("hrrr", "HRRR, 12 made (5.3, winds simple)", "hrrr", made("hrrr")),
        Hour("gfs", "GFS 0.25°, 12 made (5.3)", "gfs", made("gfs")),
        Hour("ifs", "IFS 0.25°, 12 made (CCSDS)", "ifs", made("ifs")),
    ]
    return [*found, *real_hours()]


def _all_dated(paths: list[Path]) -> list[bytes]:
    return [one for path in paths for one in _dated(path)]


def real_hours() -> list[Hour]:
    """Real messages of one grid, set to one time so that they form an hour; values are unchanged."""
    found = []
    for key, title, patterns in (
        ("hrrr", "HRRR", ("noaa/hrrr.*.grib2",)),
        ("gfs", "GFS 0.25°", ("noaa/gfs.20251201*", "noaa/gfs.20200325*", "noaa/gfs.20201026*")),
        ("ifs", "ECMWF 0.25° CCSDS", ("ecmwf/aifs-single*.grib2", "ecmwf/ifs.20260310*.grib2")),
    ):
        paths = [path for pattern in patterns for path in real_files(pattern)]
        if paths:
            recipe = repr(sorted((path.name, path.stat().st_size) for path in paths))
            path = _file(f"{key}-real", recipe, partial(_all_dated, paths))
            found.append(Hour(f"{key}-real", f"{title}, {count(path)} real", key, path))
    return found


def whole_file() -> Path | None:
    """A complete real file: 743 messages of GFS at 1°."""
    path = REAL_GRIB / "noaa" / "gfs.20221107.t00z.pgrb2.1p00.f024.FULL.grib2"
    return path if path.is_file() else None


def count(path: Path) -> int:
    from gribmill.grib.messages import walk

    return sum(1 for _ in walk(path.read_bytes(), path.name))


def _file(key: str, recipe: str, messages: Callable[[], list[bytes]]) -> Path:
    tag = hashlib.sha256(recipe.encode()).hexdigest()[:12]
    path = SCRATCH / f"{key}-{tag}.grib2"
    if not path.is_file():
        sys.stderr.write(f"making {path.name} …\n")
        part = path.with_suffix(".part")
        make_grib.write(part, messages())
        part.replace(path)
    return path


def _message(grid: str, seed: int, row: Row, packing: dict[str, Any]) -> bytes:
    name, mean, span, more = row
    values = make_grib.smooth_values(make_grib.GRIDS[grid].shape, seed=seed, mean=mean, span=span)
    if name in NEVER_NEGATIVE:
        values = np.maximum(values, 0)
    return make_grib.make_message(grid, name, values, step=1, **packing, **more)


def at_hour(path: Path, hour: int) -> bytes:
    """The same fields of another forecast hour: only the times in their headers differ."""
    import eccodes

    messages = []
    with path.open("rb") as file:
        while (handle := eccodes.codes_grib_new_from_file(file)) is not None:
            window = eccodes.codes_get(handle, "stepRange")
            eccodes.codes_set(handle, "stepRange", f"{max(0, hour - 1)}-{hour}" if "-" in window else str(hour))
            messages.append(eccodes.codes_get_message(handle))
            eccodes.codes_release(handle)
    return b"".join(messages)


def _dated(path: Path) -> list[bytes]:
    """The file's messages with one reference time; steps stay, except for analyses and parts of an hour."""
    import eccodes

    messages = []
    with path.open("rb") as file:
        while (handle := eccodes.codes_grib_new_from_file(file)) is not None:
            for key, value in ONE_TIME.items():
                eccodes.codes_set(handle, key, value)
            window = eccodes.codes_get(handle, "stepRange")
            eccodes.codes_set(handle, "stepUnits", "h")
            eccodes.codes_set(handle, "stepRange", "0-1" if "-" in window else "1")
            messages.append(eccodes.codes_get_message(handle))
            eccodes.codes_release(handle)
    return messages
