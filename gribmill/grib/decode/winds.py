"""Rotates winds from the grid's axes to east and north."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gribmill.grib.decode.field import Field
from gribmill.grib.names.vectors import northward, partners
from gribmill.grib.product.keys import Keys
from gribmill.kernel import native


def is_component(keys: Keys) -> bool:
    """Whether the field is one component of a vector that may need rotation."""
    return keys.parameter in partners(keys.centre) or keys.parameter in northward(keys.centre)


def adds_up(keys: Keys) -> bool:
    """Whether components add up as those of a vector. Probabilities, percentiles and spreads do not."""
    return not (keys.spread or keys.probability or keys.percentile is not None)


def pairs(fields: Sequence[Field]) -> list[tuple[Field, Field]]:
    """Each u with its v: of the same level, times, run, member and grid. A u or v without the other is left out."""
    waiting: dict[tuple[Any, ...], list[Field]] = {}
    fields = [field for field in fields if adds_up(field.keys)]
    for field in fields:
        if field.keys.parameter in northward(field.keys.centre):
            waiting.setdefault(_pair_key(field, field.keys.parameter), []).append(field)
    found = []
    for field in fields:
        partner = partners(field.keys.centre).get(field.keys.parameter)
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
