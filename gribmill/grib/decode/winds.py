"""Vector quantities: pairs u with v, and rotates them from the grid's axes to east and north."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gribmill.grib.decode.field import Field
from gribmill.grib.product.keys import ECMWF, NOAA, Keys, Parameter
from gribmill.kernel import native

Numbers = dict[Parameter, tuple[int, ...]]

# Parameter numbers of u by discipline and category, or by GRIB1's table; v has the next number. Zonal and eastward also
# mean u. If WMO defines both an eastward and a u or x component of a quantity, the eastward one is eastward on any grid
# and needs no rotation. Neither does x, which is along the grid by definition.
COMMON: Numbers = {
    # Fluxes of moisture, vapour, cloud, rain and snow.
    (0, 1): (91, 150, 152, 154, 156, 158),
    # Wind, shear, momentum flux, gusts, storm motion, tendencies, geostrophic wind, stresses, neutral wind.
    (0, 2): (2, 15, 17, 23, 27, 39, 41, 52, 56, 62, 64, 66),
    # Gravity wave stress; fluxes of mass, of geopotential, of a constituent, of energy.
    (0, 3): (16, 36, 40), (0, 20): (78,), (0, 21): (5, 7, 9, 11, 19),
    # Satellite winds; Stokes drift, momentum flux, currents, ice drift and pressure, tendencies of the sea.
    (3, 1): (4,), (10, 0): (21, 90), (10, 1): (2,), (10, 2): (4, 10), (10, 4): (38,),
    # GRIB1, where numbers up to 127 of three tables are WMO's: wind, shear, currents, ice drift, momentum flux.
    **{(table,): (33, 45, 49, 95, 124) for table in (1, 2, 3)},
}  # fmt: skip
# Storm motion, accelerations by diffusion, drag and convection, the hour's strongest wind, gravity wave stress, fluxes
# of water, winds of scatterometers, currents.
NCEP_OWN: Numbers = {
    (0, 2): (194, 208, 210, 212, 216, 222), (0, 3): (194,), (2, 0): (224, 226), (3, 1): (192,), (10, 1): (192, 194),
    (2,): (147, 196, 247),
}  # fmt: skip
# GRIB1: wind and its parts, stresses, tendencies; momentum flux and Stokes drift; integrated fluxes; means.
ECMWF_OWN: Numbers = {
    (128,): (11, 13, 131, 165, 180, 195, 218, 220, 222, 229, 253), (140,): (101, 103, 215), (228,): (131, 239, 246),
    (162,): (65, 67, 69, 71, 73, 75, 77, 88, 90, 112, 114, 119, 123, 126, 138), (235,): (41, 45),
}  # fmt: skip
# Quantities with v before u: turbulent stress, and transports of the sea.
BACKWARDS: Numbers = {(0, 2): (38,), (10, 4): (43, 45, 47, 49)}


@cache
def partners(centre: int) -> dict[Parameter, Parameter]:
    """Maps each u component that a centre may publish to its v component."""
    own = NCEP_OWN if centre in NOAA else ECMWF_OWN if centre == ECMWF else {}
    return _with_v(COMMON, 1) | _with_v(BACKWARDS, -1) | _with_v(own, 1)


@cache
def northward(centre: int) -> frozenset[Parameter]:
    """All v components that a centre may publish."""
    return frozenset(partners(centre).values())


def _with_v(numbers: Numbers, step: int) -> dict[Parameter, Parameter]:
    return {(*place, u): (*place, u + step) for place, each in numbers.items() for u in each}


def is_component(keys: Keys) -> bool:
    """Whether the field is one component of a vector that may need rotation."""
    return keys.parameter in partners(keys.tables) or keys.parameter in northward(keys.tables)


def adds_up(keys: Keys) -> bool:
    """Whether the field is a component that can be rotated. Probabilities, percentiles and spreads cannot."""
    return not (keys.spread or keys.probability or keys.percentile is not None)


def pairs(fields: Sequence[Field]) -> list[tuple[Field, Field]]:
    """Pairs each u with the v of the same level, times, run, member and grid. Unpaired fields are left out."""
    waiting: dict[tuple[Any, ...], list[Field]] = {}
    fields = [field for field in fields if adds_up(field.keys)]
    for field in fields:
        if field.keys.parameter in northward(field.keys.tables):
            waiting.setdefault(_pair_key(field, field.keys.parameter), []).append(field)
    found = []
    for field in fields:
        partner = partners(field.keys.tables).get(field.keys.parameter)
        candidates = waiting.get(_pair_key(field, partner)) if partner else None
        if candidates:
            found.append((field, candidates.pop(0)))
    return found


def rotate(
    u: NDArray[np.float32], v: NDArray[np.float32], cosine: NDArray[np.float64], sine: NDArray[np.float64]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """u·cos + v·sin and v·cos − u·sin, in double precision."""
    if native.available() and all(array.flags.c_contiguous for array in (u, v, cosine, sine)):
        both = np.empty_like(u), np.empty_like(v)
        native.rotate_winds(u, v, cosine, sine, *both)
        return both
    east = u * cosine + v * sine
    north = v * cosine - u * sine
    return east.astype(np.float32), north.astype(np.float32)


def _pair_key(field: Field, parameter: tuple[int, ...]) -> tuple[Any, ...]:
    keys = field.keys
    return (
        parameter, keys.level, keys.level2, keys.reference, keys.start, keys.end, keys.statistic,
        keys.member, keys.derived, keys.selector, keys.centre, field.sections.grid,
    )  # fmt: skip
