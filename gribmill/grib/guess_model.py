"""Which model a GRIB field comes from, where its keys say so plainly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gribmill.grib.product.keys import ECMWF, NCEP, Keys

if TYPE_CHECKING:
    from gribmill.regions.grids import Grid


@dataclass(frozen=True, slots=True)
class Sign:
    """A producer's mark: centre, generating process, and the grid's kind and shape where those matter."""

    model: str
    centre: int
    processes: frozenset[int] | None = None
    kind: str | None = None
    shape: tuple[int, int] | None = None


# NCEP's processes are those of its ON388 table A; more particular rows stand first.
SIGNS = (
    Sign("hrrr", NCEP, frozenset({83}), "lambert", (1059, 1799)),
    Sign("hrrrak", NCEP, frozenset({83}), "polar_stereographic"),
    Sign("rap", NCEP, frozenset({105})),
    Sign("namnest", NCEP, frozenset({84}), "lambert", (1059, 1799)),
    Sign("nam", NCEP, frozenset({84})),
    Sign("gefs", NCEP, frozenset({107})),
    Sign("nbm_co", NCEP, frozenset({104, 114}), "lambert", (1597, 2345)),
    Sign("nbm_ak", NCEP, frozenset({104, 114}), "polar_stereographic"),
    Sign("nbm_hi", NCEP, frozenset({104, 114}), "mercator", (561, 625)),
    Sign("nbm_pr", NCEP, frozenset({104, 114}), "mercator", (257, 353)),
    Sign("nbm", NCEP, frozenset({104, 114})),
    Sign("rrfs", NCEP, frozenset({134, 135})),
    Sign("gfswave", NCEP, frozenset({11, 10}), "latlon"),
    Sign("gfs", NCEP, frozenset({81, 96, 82}), "latlon", (721, 1440)),
    Sign("gfs_1p00", NCEP, frozenset({81, 96, 82}), "latlon", (181, 360)),
    Sign("gfs_0p50", NCEP, frozenset({81, 96, 82}), "latlon", (361, 720)),
    Sign("gfs", NCEP, frozenset({81, 96, 82})),
    Sign("aifs", ECMWF, frozenset(range(1, 30))),
    Sign("ifs", ECMWF),
)
UNKNOWN = "grib"


def model_of(keys: Keys, grid: Grid) -> str:
    """The name of the model, or `grib` where the keys do not tell."""
    kind = grid.spec()["kind"]
    for sign in SIGNS:
        if (
            sign.centre == keys.centre
            and (sign.processes is None or keys.process in sign.processes)
            and sign.kind in (None, kind)
            and sign.shape in (None, grid.shape)
        ):
            return sign.model
    return UNKNOWN
