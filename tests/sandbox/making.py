"""Generated files for tests."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from gribmill.grib.decode.field import Field, fields
from gribmill.grib.names.lexicon import lexicon, unique_names
from gribmill.ingest.models.model import Model
from gribmill.ingest.models.registry import OwnModels, load_models
from gribmill.sandbox.forecast.forecast import Forecaster, MadeFile
from gribmill.sandbox.publication import Publication, plan, publish, roots

RUN_ID = "20260901_12"
RUN = datetime(2026, 9, 1, 12, tzinfo=UTC)
MODELS = load_models()
HRRR_KEY = "aws-hrrr/hrrr.20260901/conus/hrrr.t12z.wrfsfcf{:02d}.grib2"


def make(
    folder: Path, names: tuple[str, ...], hours: str, *, coarse: int = 20, seed: int = 0, only: tuple[str, ...] = ()
) -> list[Publication]:
    """Publish these hours of the models into the folder."""
    planned = plan([MODELS[name] for name in names], hours, RUN, run=RUN_ID)
    return [one for one, _ in publish(planned, folder, Forecaster(seed, coarse, frozenset(only)))]


def made(name: str, hour: int, *, coarse: int = 20, seed: int = 0, only: tuple[str, ...] = ()) -> MadeFile:
    """One file."""
    return Forecaster(seed, coarse, frozenset(only)).make([MODELS[name]], RUN, hour)


def named(data: bytes) -> dict[str, Field]:
    """The fields of a file by their names in a tile."""
    found = list(fields(data, "made"))
    names = unique_names([lexicon().match_keys(field.keys) for field in found])
    return {name: field for name, field in zip(names, found, strict=True) if name}


def values(file: MadeFile, name: str) -> np.ndarray:
    """A quantity of a made file as float64."""
    return named(file.grib)[name].values().astype(np.float64)


def led_to(url: str, *names: str) -> dict[str, Model]:
    """The models with all mirrors redirected to that address, as by [roots] in the settings."""
    return dict(load_models(OwnModels(roots=roots([MODELS[name] for name in names], url))))
