"""Winds along the grid's axes, turned to east and north."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gribmill.tiles.grib.field import Field
from gribmill.tiles.grib.kernel import native
from gribmill.tiles.grib.keys import Keys

# Parameters that are components of one vector: u and its v. GRIB2: wind, storm motion (WMO's and NCEP's), the hour's
# strongest wind, gusts, geostrophic wind, shear, momentum flux, gravity wave stress; Stokes drift, ocean currents, ice
# drift. GRIB1: the first 127 of tables 1 to 3 are WMO's (wind, currents, ice drift); ECMWF's 128 and 228.
PARTNERS: dict[tuple[int, ...], tuple[int, ...]] = {
    (0, 2, 2): (0, 2, 3), (0, 2, 194): (0, 2, 195), (0, 2, 27): (0, 2, 28), (0, 2, 222): (0, 2, 223),
    (0, 2, 23): (0, 2, 24), (0, 2, 41): (0, 2, 42), (0, 2, 15): (0, 2, 16), (0, 2, 17): (0, 2, 18),
    (0, 3, 194): (0, 3, 195), (10, 0, 21): (10, 0, 22), (10, 1, 2): (10, 1, 3), (10, 2, 4): (10, 2, 5),
    **{(table, u): (table, u + 1) for table in (1, 2, 3) for u in (33, 49, 95)},
    (128, 131): (128, 132), (128, 165): (128, 166), (228, 246): (228, 247), (228, 239): (228, 240),
}  # fmt: skip
EASTWARD, NORTHWARD = frozenset(PARTNERS), frozenset(PARTNERS.values())


def is_component(keys: Keys) -> bool:
    """Whether the field is one component of a vector that may need turning."""
    return keys.parameter in EASTWARD or keys.parameter in NORTHWARD


def pairs(fields: Sequence[Field]) -> list[tuple[Field, Field]]:
    """Each u with its v: the same level, times, run, member and grid. A u or v alone is left out."""
    waiting: dict[tuple[Any, ...], list[Field]] = {}
    for field in fields:
        if field.keys.parameter in NORTHWARD:
            waiting.setdefault(_kinship(field, field.keys.parameter), []).append(field)
    found = []
    for field in fields:
        partner = PARTNERS.get(field.keys.parameter)
        candidates = waiting.get(_kinship(field, partner)) if partner else None
        if candidates:
            found.append((field, candidates.pop(0)))
    return found


def turned(
    u: NDArray[np.float32], v: NDArray[np.float32], cosine: NDArray[np.float64], sine: NDArray[np.float64]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """u·cos + v·sin and v·cos − u·sin, in double precision."""
    module = native() if all(array.flags.c_contiguous for array in (u, v, cosine, sine)) else None
    if module is not None:
        both = np.empty_like(u), np.empty_like(v)
        module.turn(u, v, cosine, sine, *both)
        return both
    east = u * cosine + v * sine
    north = v * cosine - u * sine
    return east.astype(np.float32), north.astype(np.float32)


def _kinship(field: Field, parameter: tuple[int, ...]) -> tuple[Any, ...]:
    keys = field.keys
    return (
        parameter, keys.level, keys.level2, keys.reference, keys.start, keys.end, keys.statistic,
        keys.member, keys.derived, keys.percentile, keys.centre, field.sections.grid,
    )  # fmt: skip
