"""Guesses the model of a GRIB field from its keys and grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gribmill.grib.product.keys import ECMWF, NCEP, Keys

if TYPE_CHECKING:
    from gribmill.regions.grids import Grid


@dataclass(frozen=True, slots=True)
class ModelSignature:
    """What identifies a model: centre, generating process, and the grid's kind and shape where they matter."""

    model: str
    centre: int
    processes: frozenset[int] | None = None
    kind: str | None = None
    shape: tuple[int, int] | None = None


# NCEP's processes are those of its ON388 table A; more specific rows come first.
SIGNATURES = (
    ModelSignature("hrrr", NCEP, frozenset({83}), "lambert", (1059, 1799)),
    ModelSignature("hrrrak", NCEP, frozenset({83}), "polar_stereographic"),
    ModelSignature("rap", NCEP, frozenset({105})),
    ModelSignature("namnest", NCEP, frozenset({84}), "lambert", (1059, 1799)),
    ModelSignature("nam", NCEP, frozenset({84})),
    ModelSignature("gefs", NCEP, frozenset({107})),
    ModelSignature("nbm_co", NCEP, frozenset({104, 114}), "lambert", (1597, 2345)),
    ModelSignature("nbm_ak", NCEP, frozenset({104, 114}), "polar_stereographic"),
    ModelSignature("nbm_hi", NCEP, frozenset({104, 114}), "mercator", (561, 625)),
    ModelSignature("nbm_pr", NCEP, frozenset({104, 114}), "mercator", (257, 353)),
    ModelSignature("nbm", NCEP, frozenset({104, 114})),
    ModelSignature("rrfs", NCEP, frozenset({134, 135})),
    ModelSignature("gfswave", NCEP, frozenset({11, 10}), "latlon"),
    ModelSignature("gfs", NCEP, frozenset({81, 96, 82}), "latlon", (721, 1440)),
    ModelSignature("gfs_1p00", NCEP, frozenset({81, 96, 82}), "latlon", (181, 360)),
    ModelSignature("gfs_0p50", NCEP, frozenset({81, 96, 82}), "latlon", (361, 720)),
    ModelSignature("gfs", NCEP, frozenset({81, 96, 82})),
    ModelSignature("aifs", ECMWF, frozenset(range(1, 30))),
    ModelSignature("ifs", ECMWF),
)
UNKNOWN = "grib"


def guess_model(keys: Keys, grid: Grid) -> str:
    """The name of the model, or `grib` if it is not recognised."""
    kind = grid.spec()["kind"]
    for one in SIGNATURES:
        if (
            one.centre == keys.centre
            and (one.processes is None or keys.process in one.processes)
            and one.kind in (None, kind)
            and one.shape in (None, grid.shape)
        ):
            return one.model
    return UNKNOWN
