"""Recognises the model and ensemble member of a GRIB field from its keys and grid."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from gribmill.grib.product.keys import ECMWF, NCEP, Keys, MarsLabels

if TYPE_CHECKING:
    from gribmill.regions.grids import Grid

NWS_GATEWAY, NOAA_LABORATORIES = 8, 161
ENSEMBLE_PRODUCTS = 2


@dataclass(frozen=True, slots=True)
class ModelSignature:
    """What identifies a model: centre, generating process, and the grid's kind, spacing and shape where they matter."""

    model: str
    processes: frozenset[int] | None = None
    kind: str | None = None
    # Metres, or degrees of latitude.
    spacing: float | None = None
    shape: tuple[int, int] | None = None
    subcentre: int | None = None
    centre: int = NCEP

    def fits(
        self, centre: int, subcentre: int, process: int | None, spec: dict[str, Any], shape: tuple[int, int]
    ) -> bool:
        """Whether a field with these numbers, on the grid that `spec` describes, belongs to the model."""
        spacing = spec.get("dx", spec.get("dlat", 0.0))
        return (
            self.centre == centre
            and (self.processes is None or process in self.processes)
            and self.kind in (None, spec["kind"])
            and (self.spacing is None or abs(spacing - self.spacing) < 1e-3 * self.spacing)
            and self.shape in (None, shape)
            and self.subcentre in (None, subcentre)
        )


def _ncep(model: str, *processes: int, **grid: Any) -> ModelSignature:
    return ModelSignature(model, frozenset(processes), **grid)


# Process numbers are from NCEP's ON388 table A; more specific rows come first.
SIGNATURES = (
    _ncep("hrrr", 83, kind="lambert", spacing=3000),
    _ncep("hrrrak", 83, kind="polar_stereographic"),
    _ncep("rap_na", 105, kind="rotated_latlon"),
    _ncep("rap", 105),
    _ncep("namnest", 84, kind="lambert", spacing=3000),
    _ncep("nam", 84),
    _ncep("gefs", 107, spacing=0.25),
    _ncep("gefs_0p50", 107, spacing=0.5),
    _ncep("gefs_1p00", 107, spacing=1.0),
    _ncep("gefs", 107),
    # GEFS used to have the process number of its spectral model.
    _ncep("gefs_1p00", 80, spacing=1.0, subcentre=ENSEMBLE_PRODUCTS),
    _ncep("gefs", 80, subcentre=ENSEMBLE_PRODUCTS),
    _ncep("naefs", 114),
    _ncep("nbm_co", 104, kind="lambert", shape=(1597, 2345)),
    _ncep("nbm_ak", 104, kind="polar_stereographic"),
    _ncep("nbm_hi", 104, kind="mercator", shape=(561, 625)),
    _ncep("nbm_pr", 104, kind="mercator", shape=(257, 353)),
    _ncep("nbm", 104),
    _ncep("rrfs_conus", 134, kind="lambert", spacing=3000),
    _ncep("rrfs_ak", 134, kind="polar_stereographic"),
    _ncep("rrfs_hi", 134, kind="mercator", shape=(225, 321)),
    _ncep("rrfs_pr", 134, kind="mercator", shape=(310, 544)),
    _ncep("rrfs_na", 134, kind="rotated_latlon"),
    _ncep("rrfs", 134),
    _ncep("gfswave_0p16", 10, 11, kind="latlon", spacing=1 / 6),
    _ncep("gfswave", 10, 11, kind="latlon"),
    _ncep("gdas", 82, subcentre=0),
    _ncep("gfs_1p00", 81, 96, kind="latlon", spacing=1.0, subcentre=0),
    _ncep("gfs_0p50", 81, 96, kind="latlon", spacing=0.5, subcentre=0),
    _ncep("gfs", 81, 96, kind="latlon", subcentre=0),
    *(_ncep("gfs_sflux", 81, 96, kind="gaussian", shape=shape) for shape in ((1536, 3072), (880, 1760), (576, 1152))),
    _ncep("cfs", 98),
    _ncep("rtma", 109),
    _ncep("urma", 118, kind="lambert", spacing=2539.703),
    _ncep("href", 132),
    _ncep("psurge", 12),
    _ncep("wpc_qpf", 180),
    _ncep("stage4", 182, kind="polar_stereographic"),
    _ncep("aqm_ak", 210, 211, kind="polar_stereographic"),
    _ncep("aqm", 210, 211),
    ModelSignature("ndfd", frozenset({0}), centre=NWS_GATEWAY),
    ModelSignature("mrms", frozenset({97}), "latlon", centre=NOAA_LABORATORIES),
)
# ECMWF's models by class and stream.
ECMWF_MODELS = {
    ("od", "oper"): "ifs", ("od", "scda"): "ifs", ("od", "wave"): "ifs_wave", ("od", "scwv"): "ifs_wave",
    ("od", "enfo"): "ifs_enfo", ("od", "waef"): "ifs_waef",
    ("ai", "oper"): "aifs", ("ai", "wave"): "aifs_wave", ("ai", "enfo"): "aifs_ens", ("ai", "waef"): "aifs_ens_wave",
    ("ea", "oper"): "era5", ("l5", "oper"): "era5_land", ("ei", "oper"): "era_interim",
}  # fmt: skip
# For streams that are not listed above, the stream is appended to the name of the class.
ECMWF_CLASSES = {"ea": "era5", "l5": "era5_land", "ei": "era_interim"}
ARCHIVES = {"ti": "tigge", "s2": "s2s"}
# Names of centres (common code table C-11) as ecCodes abbreviates them.
CENTRES = {7: "kwbc", 34: "rjtd", 38: "babj", 40: "rksl", 54: "cwao", 74: "egrr", 78: "edzw", 84: "lfpw", 85: "lfpw",
           98: "ecmwf"}  # fmt: skip
UNKNOWN_CENTRES = {255, 65535}
UNKNOWN = "grib"
# GFS and GDAS, its data assimilation, write the same keys: only the publisher's file names distinguish them.
GDAS_FILE = re.compile(r"(^|[^a-z])gdas", re.IGNORECASE)
GFS_PROCESSES = {81, 96}
# Product templates for aerosols. GEFS writes aerosols with the process number of GFS, which publishes none.
AEROSOLS = frozenset({44, 45, 46, 47, 48, 49, 80, 81, 82, 84, 85})
# Ensemble families: statistics of all members (spread, probability) get a member name too.
ENSEMBLES = frozenset(
    ("gefs", "gefs_0p50", "gefs_1p00", "naefs", "ifs_enfo", "ifs_waef", "aifs_ens", "aifs_ens_wave", "era5_enda")
)


@dataclass(frozen=True, slots=True)
class ModelGuess:
    """A model (`gefs`) and its member or ensemble statistic (`p01`, `avg`; "" if none)."""

    family: str
    member: str = ""
    recognised: bool = True

    @property
    def model_id(self) -> str:
        """`gefs.p01`."""
        return f"{self.family}.{self.member}" if self.member else self.family


def guess_model(keys: Keys, grid: Grid, file: str = "", *, aerosols: bool = False) -> ModelGuess:
    """The model of a field in a file of that name. An unrecognised model is named after its centre and process.

    `aerosols`: the file contains aerosol fields, so its other fields are not from GFS either.
    """
    found = _family(keys, grid, aerosols)
    if found.family.startswith("gfs") and GDAS_FILE.search(file):
        found = replace(found, family=f"gdas{found.family[3:]}")
    if found.family.startswith("gfswave") and (keys.member is not None or keys.derived is not None):
        found = replace(found, family=f"gefs{found.family[3:]}")
    return replace(found, member=_member(keys, found.family))


def _family(keys: Keys, grid: Grid, aerosols: bool) -> ModelGuess:
    if keys.mars is not None:
        return _by_labels(keys, keys.mars)
    known = None
    if not (aerosols and keys.process in GFS_PROCESSES):
        known = _by_process(keys.centre, keys.subcentre or 0, keys.process, grid)
    return ModelGuess(known) if known else ModelGuess(_neutral(keys, aerosols), recognised=False)


# Cached: the result is the same for every field of a file.
@lru_cache(maxsize=256)
def _by_process(centre: int, subcentre: int, process: int | None, grid: Grid) -> str | None:
    spec = grid.spec()
    return next((one.model for one in SIGNATURES if one.fits(centre, subcentre, process, spec, grid.shape)), None)


def _by_labels(keys: Keys, labels: MarsLabels) -> ModelGuess:
    if labels.mars_class in ARCHIVES:
        return ModelGuess(f"{ARCHIVES[labels.mars_class]}_{_centre(keys.centre)}")
    model = ECMWF_MODELS.get((labels.mars_class, labels.stream))
    if model is None and labels.mars_class in ECMWF_CLASSES:
        model = f"{ECMWF_CLASSES[labels.mars_class]}_{labels.stream}"
    name = model or f"{_centre(keys.centre)}_{labels.mars_class}_{labels.stream}"
    if labels.mars_class == "od" and labels.type == "an":
        name += "_an"  # the forecast also has a step 0, which is published as its analysis
    if labels.expver not in ("0001", "0005", "0012"):  # operational, and ERA5's versions
        name += f"_{labels.expver.strip('_')}"
    return ModelGuess(name, recognised=model is not None)


def _member(keys: Keys, family: str) -> str:
    """The publisher's name for the member: NCEP's `c00`, `p01`, `avg`, `spr`; ECMWF's `cf`, `pf01`, `em`, `es`."""
    number, kind = keys.ensemble_member, keys.mars.type if keys.mars else ""
    ours = {ECMWF: ("cf", "pf", "em", "es", "ep"), NCEP: ("c00", "p", "avg", "spr", "prob")}
    control, perturbed, mean, spread, chance = ours.get(keys.centre, ("c00", "p", "mean", "spread", "prob"))
    if number is not None:
        if keys.mars is not None and kind not in ("cf", "pf"):
            return f"m{number:02d}"
        if keys.member_kind == 2:
            return f"n{number:02d}"
        return control if number == 0 else f"{perturbed}{number:02d}"
    if keys.ensemble_mean:
        return mean
    if family not in ENSEMBLES:
        return ""
    if keys.probability is not None or keys.percentile is not None:
        return chance
    return "" if keys.derived is None else {8: "min", 9: "max"}.get(keys.derived, spread)


def _neutral(keys: Keys, aerosols: bool) -> str:
    """`kwbc_p96`, `kwbc_s212_p96`, `kwbc_p96_aerosol`; `grib` without a centre."""
    if keys.centre in UNKNOWN_CENTRES:
        return UNKNOWN
    parts = [_centre(keys.centre)]
    parts += [f"s{keys.subcentre}"] if keys.subcentre else []
    parts += [f"p{keys.process}"] if keys.process is not None else []
    parts += ["aerosol"] if aerosols else []
    return "_".join(parts)


def _centre(number: int) -> str:
    return CENTRES.get(number, f"c{number}")
