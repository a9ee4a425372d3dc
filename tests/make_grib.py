"""GRIB for tests, written by the sandbox: true NOAA and ECMWF grids, every packing that ecCodes can write.

`make_message(grid="hrrr-small", short_name="2t", values=array)` gives one message; arrays go in as gribmill
returns them (row 0 south, column 0 west, NaN missing). Grids are written here as GRIB keys, not taken from
`gribmill.regions`: tests of grids would otherwise compare the code with itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gribmill.sandbox.grib_writer.grib_message import GribMessage, Missing, PackingChoice

Keys = Iterator[tuple[str, Any]]

STATISTICS = {"avg": 0, "accum": 1, "max": 2, "min": 3}
# Names that ecCodes does not accept for NCEP: parameter, kind of level and its value.
BY_NUMBER: dict[str, tuple[tuple[int, int, int], int, int | None]] = {
    "mslma": ((0, 3, 198), 101, None),
    "mslet": ((0, 3, 192), 101, None),
    "80u": ((0, 2, 2), 103, 80),
    "80v": ((0, 2, 3), 103, 80),
    "100u": ((0, 2, 2), 103, 100),
    "100v": ((0, 2, 3), 103, 100),
    "refc": ((0, 16, 196), 10, None),
    "tcc": ((0, 6, 1), 10, None),
    "hpbl": ((0, 3, 196), 1, None),
    "pwat": ((0, 1, 3), 200, None),
}
# Flag tables 3.3 (GRIB2) and 7 (GRIB1): increments given; winds relative to the grid.
INCREMENTS_GIVEN = {1: 0x80, 2: 0x30}
GRID_RELATIVE = 0x08
REFERENCE = datetime(2026, 9, 1, 12, tzinfo=UTC)

PACKINGS2 = (
    "grid_simple",
    "grid_complex",
    "grid_complex_spatial_differencing",
    "grid_ccsds",
    "grid_png",
    "grid_jpeg",
    "grid_ieee",
)
PACKINGS1 = ("grid_simple", "grid_second_order", "grid_ieee")


@dataclass(frozen=True)
class GridSpec:
    """A grid as GRIB keys; `scanning` is the mode its producer uses."""

    grid_type: str
    nx: int
    ny: int
    keys: dict[str, Any]
    scanning: int = 64
    centre: str = "kwbc"
    grid_relative: bool = False
    radius: dict[str, Any] = field(default_factory=lambda: {"shapeOfTheEarth": 6})

    @property
    def shape(self) -> tuple[int, int]:
        return self.ny, self.nx


def _lambert(nx: int, ny: int, la1: float, lo1: float, lov: float, latin: float, dx: float) -> GridSpec:
    keys = {
        "latitudeOfFirstGridPointInDegrees": la1, "longitudeOfFirstGridPointInDegrees": lo1, "LoVInDegrees": lov,
        "LaDInDegrees": latin, "Latin1InDegrees": latin, "Latin2InDegrees": latin,
        "DxInMetres": dx, "DyInMetres": dx,
    }  # fmt: skip
    return GridSpec("lambert", nx, ny, keys, grid_relative=True)


def _latlon(nx: int, ny: int, first: float, step: float, south: float = -90.0) -> GridSpec:
    north, last = south + (ny - 1) * step, (first + (nx - 1) * step) % 360
    keys = {
        "latitudeOfFirstGridPointInDegrees": north, "latitudeOfLastGridPointInDegrees": south,
        "longitudeOfFirstGridPointInDegrees": first, "longitudeOfLastGridPointInDegrees": last,
        "iDirectionIncrementInDegrees": step, "jDirectionIncrementInDegrees": step,
    }  # fmt: skip
    return GridSpec("regular_ll", nx, ny, keys, scanning=0)


def _polar(nx: int, ny: int, la1: float, lo1: float, lov: float, dx: float) -> GridSpec:
    keys = {
        "latitudeOfFirstGridPointInDegrees": la1, "longitudeOfFirstGridPointInDegrees": lo1,
        "orientationOfTheGridInDegrees": lov, "LaDInDegrees": 60, "DxInMetres": dx, "DyInMetres": dx,
    }  # fmt: skip
    return GridSpec("polar_stereographic", nx, ny, keys, grid_relative=True)


def _mercator(nx: int, ny: int, corners: tuple[float, float, float, float], lad: float, dx: float) -> GridSpec:
    la1, lo1, la2, lo2 = corners
    keys = {
        "latitudeOfFirstGridPointInDegrees": la1, "longitudeOfFirstGridPointInDegrees": lo1,
        "latitudeOfLastGridPointInDegrees": la2, "longitudeOfLastGridPointInDegrees": lo2,
        "LaDInDegrees": lad, "DiInMetres": dx, "DjInMetres": dx,
    }  # fmt: skip
    return GridSpec("mercator", nx, ny, keys)


def _rotated(nx: int, ny: int, la1: float, lo1: float, step: float, pole: tuple[float, float]) -> GridSpec:
    keys = {
        "latitudeOfFirstGridPointInDegrees": la1, "longitudeOfFirstGridPointInDegrees": lo1 % 360,
        "latitudeOfLastGridPointInDegrees": la1 + (ny - 1) * step,
        "longitudeOfLastGridPointInDegrees": (lo1 + (nx - 1) * step) % 360,
        "iDirectionIncrementInDegrees": step, "jDirectionIncrementInDegrees": step,
        "latitudeOfSouthernPoleInDegrees": pole[0], "longitudeOfSouthernPoleInDegrees": pole[1] % 360,
        "angleOfRotationInDegrees": 0,
    }  # fmt: skip
    return GridSpec("rotated_ll", nx, ny, keys, grid_relative=True)


_HRRR = _lambert(1799, 1059, 21.138123, 237.280472, 262.5, 38.5, 3000)
_NBM = replace(
    _lambert(2345, 1597, 19.229, 233.7234, 265, 25, 2539.703),
    scanning=80, grid_relative=False, radius={"shapeOfTheEarth": 1, "scaleFactorOfRadiusOfSphericalEarth": 0,
                                              "scaledValueOfRadiusOfSphericalEarth": 6371200},
)  # fmt: skip

# The names without a suffix are the whole operational grids; "-small" ones are windows of them that start at
# the same first point (so they are exact), or coarse editions of global ones.
GRIDS: dict[str, GridSpec] = {
    "hrrr": _HRRR,
    "hrrr-small": replace(_HRRR, nx=90, ny=60),
    # HRRR's columns 1300-1539 and rows 560-759: New York and New England, to a micro-degree.
    "hrrr-ne": replace(_HRRR, nx=240, ny=200, keys=_HRRR.keys | {
        "latitudeOfFirstGridPointInDegrees": 36.801042, "longitudeOfFirstGridPointInDegrees": 276.289391}),
    "hrrr-ak": _polar(1299, 919, 41.612949, 185.117126, 225, 3000),
    "hrrr-ak-small": _polar(65, 46, 41.612949, 185.117126, 225, 60000),
    "nbm": _NBM,
    "nbm-small": replace(_NBM, nx=75, ny=51),
    "nbm-hi": _mercator(625, 561, (14.3515, 195.2525, 26.8605, 210.1261), 20, 2500),
    "nbm-hi-small": _mercator(63, 57, (14.3515, 195.2525, 26.8605, 210.1261), 20, 25000),
    "rap": _lambert(451, 337, 16.281, 233.862, 265, 25, 13545),
    "nam": _lambert(614, 428, 12.19, 226.541, 265, 25, 12191),
    "rrfs-na": _rotated(1127, 683, -36.9303, -61.0, 0.1083, (-35.0, 247.0)),
    "rrfs-na-small": _rotated(113, 69, -36.9303, -61.0, 1.083, (-35.0, 247.0)),
    "gfs": _latlon(1440, 721, 0, 0.25),
    "gfs-small": _latlon(144, 73, 0, 2.5),
    "ecmwf": replace(_latlon(1440, 721, 180, 0.25), centre="ecmf"),
    "ecmwf-small": replace(_latlon(144, 73, 180, 2.5), centre="ecmf"),
    "gfswave-atlantic": _latlon(301, 331, 260, 1 / 6, 0),
}  # fmt: skip


def make_message(
    grid: str | GridSpec = "hrrr-small",
    short_name: str = "2t",
    values: NDArray[Any] | float | None = None,
    *,
    packing: str = "grid_complex_spatial_differencing",
    order: int = 2,
    bits: int = 16,
    decimal: int | None = None,
    missing: Missing = "bitmap",
    scanning: int | None = None,
    grid_relative: bool | None = None,
    reference: datetime = REFERENCE,
    step: int = 1,
    window: tuple[int, int] | None = None,
    statistic: str = "accum",
    step_units: str = "h",
    level: int | None = None,
    edition: int = 2,
    keys: dict[str, Any] | None = None,
) -> bytes:
    """One GRIB message.

    `values`: rows south→north, NaN missing; a number makes a constant field; None a smooth generated field.
    `missing`: how NaN is encoded: "bitmap", or "management" (complex packings: a reserved number).
    `decimal`: round to this number of digits, as NOAA does, with as many bits as that takes; instead of `bits`.
    `window`: first and last hour of a `statistic`: "accum", "avg", "max" or "min".
    `keys`: additional ecCodes keys, set last before the values.
    """
    spec = GRIDS[grid] if isinstance(grid, str) else grid
    mode = spec.scanning if scanning is None else scanning
    relative = spec.grid_relative if grid_relative is None else grid_relative
    rows = np.broadcast_to(smooth_values(spec.shape) if values is None else np.asarray(values, np.float64), spec.shape)
    if decimal is not None:
        rows, bits = _rounded(rows, decimal)
    with GribMessage(edition) as message:
        message.set(_grid_keys(spec, mode, edition, relative))
        message.set(_product_keys(spec, short_name, reference, step, window, statistic, step_units, level, edition))
        message.set((keys or {}).items())
        message.pack(rows, PackingChoice(packing, bits, order, missing))
        return message.data()


def smooth_values(shape: tuple[int, int], *, seed: int = 0, mean: float = 285.0, span: float = 20.0) -> NDArray[Any]:
    """A field with weather-like smooth waves and a little noise, the same for the same seed."""
    random = np.random.default_rng(seed)
    y, x = np.mgrid[0 : shape[0], 0 : shape[1]]
    waves = np.zeros(shape)
    for _ in range(4):
        ky, kx, phase = *random.uniform(0.5, 4, 2), random.uniform(0, 6.28)
        waves += np.sin(2 * np.pi * (ky * y / shape[0] + kx * x / shape[1]) + phase)
    return mean + span * waves / 8 + random.normal(0, span / 200, shape)


def make_hrrr_hour(
    path: Path, n_messages: int = 12, *, grid: str = "hrrr-ne", step: int = 1, reference: datetime = REFERENCE
) -> Path:
    """A file like one HRRR hour: the first `n_messages` of its usual surface fields."""
    return write(path, hrrr_hour(n_messages, grid=grid, step=step, reference=reference))


def hrrr_hour(
    n_messages: int = 12, *, grid: str = "hrrr-ne", step: int = 1, reference: datetime = REFERENCE
) -> list[bytes]:
    """The messages of `make_hrrr_hour`: t2m, d2m, u10, v10, gust, mslp, tp, refc, vis, cape, tcc, csnow …"""
    common: dict[str, Any] = {"grid": grid, "step": step, "reference": reference}
    shape = GRIDS[grid].shape
    made: list[bytes] = []
    for seed, (name, mean, span, options) in enumerate(HRRR_FIELDS[:n_messages]):
        values = smooth_values(shape, seed=seed, mean=mean, span=span)
        if name in NEVER_NEGATIVE:
            values = np.maximum(values, 0)
        extra = dict(options)
        if name in ACCUMULATED:
            extra["window"] = (0, step)
        if name == "csnow":
            values = np.zeros(shape)
        made.append(make_message(short_name=name, values=values, **{"decimal": 1} | extra, **common))
    return made


HRRR_FIELDS: tuple[tuple[str, float, float, dict[str, Any]], ...] = (
    ("2t", 285, 20, {}),
    ("2d", 278, 15, {}),
    ("10u", 2, 10, {"packing": "grid_simple"}),
    ("10v", -1, 10, {"packing": "grid_simple"}),
    ("gust", 8, 10, {}),
    ("mslma", 101300, 2000, {}),
    ("tp", 0, 8, {"decimal": 3}),
    ("refc", 5, 40, {}),
    ("vis", 20000, 9000, {"decimal": -2}),
    ("cape", 200, 900, {}),
    ("tcc", 50, 60, {}),
    ("csnow", 0, 0, {}),
    ("sp", 98000, 3000, {}),
    ("sdswrf", 300, 300, {}),
)
NEVER_NEGATIVE = {"gust", "tp", "vis", "cape", "tcc", "sdswrf"}
ACCUMULATED = {"tp"}


def write(path: Path, messages: Iterable[bytes]) -> Path:
    """The messages as one file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(messages))
    return path


def _rounded(rows: NDArray[Any], decimal: int) -> tuple[NDArray[Any], int]:
    rounded = np.round(rows, decimal)
    some = not np.isnan(rounded).all()
    span = (np.nanmax(rounded) - np.nanmin(rounded)) * 10.0**decimal if some else 0
    return rounded, int(np.ceil(np.log2(span + 2)))


def _grid_keys(spec: GridSpec, mode: int, edition: int, grid_relative: bool) -> Keys:
    by_angle = spec.grid_type in ("regular_ll", "rotated_ll", "mercator")
    yield "gridType", spec.grid_type
    yield "Ni" if by_angle else "Nx", spec.nx
    yield "Nj" if by_angle else "Ny", spec.ny
    if edition == 2:
        yield from spec.radius.items()
    keys = dict(spec.keys)
    changed = mode ^ spec.scanning
    if changed & 0x40:
        _swap(keys, "latitudeOfFirstGridPointInDegrees", "latitudeOfLastGridPointInDegrees")
    if changed & 0x80:
        _swap(keys, "longitudeOfFirstGridPointInDegrees", "longitudeOfLastGridPointInDegrees")
    yield from keys.items()
    yield "scanningMode", mode
    yield "resolutionAndComponentFlags", INCREMENTS_GIVEN[edition] | (GRID_RELATIVE if grid_relative else 0)


def _swap(keys: dict[str, Any], first: str, last: str) -> None:
    if last not in keys:
        raise ValueError("a projected grid has one corner: give a GridSpec whose own scanning mode is the wanted one")
    keys[first], keys[last] = keys[last], keys[first]


def _product_keys(
    spec: GridSpec, short_name: str, reference: datetime, step: int,
    window: tuple[int, int] | None, statistic: str, step_units: str, level: int | None, edition: int,
) -> Keys:  # fmt: skip
    yield "centre", spec.centre
    yield "dataDate", int(reference.strftime("%Y%m%d"))
    yield "dataTime", int(reference.strftime("%H%M"))
    if edition == 2:
        yield "tablesVersion", 30
        yield "stepUnits", step_units
    if short_name in BY_NUMBER:
        yield from _keys_by_number(*BY_NUMBER[short_name])
    else:
        yield "shortName", short_name
    if edition == 1 and spec.centre == "ecmf":
        yield "indicatorOfTypeOfLevel", 1 if level is None else 100
        yield "level", level or 0
    elif level is not None:
        yield "level", level
    if window and edition == 2:
        yield "productDefinitionTemplateNumber", 8
        yield "typeOfStatisticalProcessing", STATISTICS[statistic]
    yield "stepRange", f"{window[0]}-{window[1]}" if window else str(step)


def _keys_by_number(parameter: tuple[int, int, int], kind: int, value: int | None) -> Keys:
    yield from zip(("discipline", "parameterCategory", "parameterNumber"), parameter, strict=True)
    yield "typeOfFirstFixedSurface", kind
    if value is not None:
        yield "scaleFactorOfFirstFixedSurface", 0
        yield "scaledValueOfFirstFixedSurface", value
