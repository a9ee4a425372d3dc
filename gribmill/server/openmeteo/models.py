"""Open-Meteo's model names, the corresponding gribmill models, and their numbers in binary responses."""

from __future__ import annotations

from dataclasses import dataclass

from gribmill.identity import MODEL_ID
from gribmill.server.openmeteo.errors import OpenMeteoError

BEST_MATCH = "best_match"
# Open-Meteo's name: gribmill's model, and the number in binary responses.
MODELS: dict[str, tuple[str | None, int]] = {
    BEST_MATCH: (None, 1),
    "gfs_seamless": ("gfs", 2),
    "gfs_global": ("gfs", 3),
    "gfs_hrrr": ("hrrr", 4),
    "gfs025": ("gfs", 39),
    "ncep_gfs025": ("gfs", 39),
    "ncep_hrrr_conus": ("hrrr", 4),
    "ecmwf_ifs025": ("ifs", 60),
    "ecmwf_ifs": ("ifs", 30),
    "ecmwf_aifs025_single": ("aifs", 86),
    "ecmwf_aifs025": ("aifs", 61),
    "ncep_nbm_conus": ("nbm_co", 84),
    "ncep_nam_conus": ("namnest", 104),
    "ncep_rrfs_conus": ("rrfs_conus", 156),
}


@dataclass(frozen=True, slots=True)
class ForecastModel:
    """A requested model; a `model_id` of None selects the finest one that covers the place."""

    name: str
    model_id: str | None
    number: int


def forecast_model(name: str) -> ForecastModel:
    """Find a model by Open-Meteo's name or ours; raises the same error as Open-Meteo if there is none."""
    if name in MODELS:
        return ForecastModel(name, *MODELS[name])
    if not MODEL_ID.fullmatch(name):
        raise OpenMeteoError(f"Cannot initialize MultiDomains from invalid String value {name[:60]} for key models")
    numbers = [number for ours, number in MODELS.values() if ours == name]
    return ForecastModel(name, name, numbers[0] if numbers else 0)
