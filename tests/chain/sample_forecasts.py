"""Generated forecasts on coarse grids and their models, shared by all tests of the chain."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from gribmill.ingest.models.model import Model
from gribmill.ingest.models.registry import OwnModels, load_models
from gribmill.sandbox.forecast.forecast import Forecaster
from gribmill.sandbox.publication import plan, publish

MADE = ("t2m", "u10", "v10", "tp")
# Requested and never published, so that every tile has an absent variable.
ABSENT = "vis"
# Family: its bucket, the hours of its run, and the variables that are published.
FAMILIES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "hrrr": ("hrrr", "0-2", MADE),
    "gfs": ("gfs", "0-2", MADE),
    "gefs": ("gefs", "0, 3", MADE),
    "nbm_co": ("nbm", "1-2", ("t2m", "ws10", "tp")),
    "hrrr_subh": ("hrrr", "1-2", ("t2m", "u10", "v10")),
    "ifs": ("ecmwf", "0, 3", MADE),
}
IDS = ("hrrr", "gfs", "gefs.p01", "nbm_co", "hrrr_subh.m15", "ifs")
COARSE = 12
MIRRORS = ("aws", "gcs")


def recent_run(now: datetime) -> datetime:
    """A recent run that every model has; the next run of that cycle is most of a day away."""
    moment = (now - timedelta(hours=1)).replace(minute=0, second=0, microsecond=0)
    return moment - timedelta(hours=moment.hour % 6)


def tables(run: datetime, url: str, *, late_minutes: float = 9000) -> dict[str, dict[str, Any]]:
    """The [models] settings: short runs and two mirrors on loopback, published at any time after the run's start."""
    found: dict[str, dict[str, Any]] = {}
    for family, (bucket, steps, made) in FAMILIES.items():
        discover = family.startswith("nbm")
        # The hours of an NBM run are known only from its listing, and final when no more can be published.
        latency = {"points": [[0, 0, 0 if discover else late_minutes]]}
        found[family] = {
            "variables": [*made, ABSENT],
            "hours": [{"cycles": str(run.hour), "steps": steps, "discover": discover}],
            "latency": [latency],
            "scan_seconds": 5,
            "give_up_hours": 20,
            "mirrors": [
                {"name": f"aws-{bucket}", "host": "aws", "root": f"{url}aws-{bucket}/"},
                {"name": f"gcs-{bucket}", "host": "gcs", "root": f"{url}gcs-{bucket}/"},
            ],
        }
    return found


@dataclass(frozen=True)
class MadeHour:
    """A file that can be published and its index, as keys below the forecasts' folder."""

    key: str
    index_key: str | None


@dataclass(frozen=True)
class SampleForecasts:
    """All files that can be published, by model and hour."""

    folder: Path
    run: datetime
    hours: dict[tuple[str, int], MadeHour]

    @property
    def run_id(self) -> str:
        return f"{self.run:%Y%m%d_%H}"

    def of(self, model_id: str) -> list[int]:
        """The hours of a model."""
        return sorted(hour for model, hour in self.hours if model == model_id)

    def publish(self, folder: Path, model_id: str, *hours: int, mirrors: Sequence[str] = MIRRORS) -> None:
        """Publish these hours of a model (default: all) on the mirrors, each file before its index."""
        for hour in hours or self.of(model_id):
            made = self.hours[model_id, hour]
            for mirror in mirrors:
                for key in filter(None, (made.key, made.index_key)):
                    place = folder / f"{mirror}{key[3:]}"
                    place.parent.mkdir(parents=True, exist_ok=True)
                    if not place.exists():
                        os.link(self.folder / key, place)


def make_sample_forecasts(folder: Path) -> SampleForecasts:
    """Generate all files; takes a second or two."""
    run = recent_run(datetime.now(UTC))
    models = load_models(OwnModels(tables(run, "http://127.0.0.1:1/")))
    hours: dict[tuple[str, int], MadeHour] = {}
    for model_id in IDS:
        hours |= _made(folder, models[model_id], run)
    return SampleForecasts(folder, run, hours)


def _made(folder: Path, model: Model, run: datetime) -> dict[tuple[str, int], MadeHour]:
    _, steps, made = FAMILIES[model.family]
    forecaster = Forecaster(coarse=COARSE, only=frozenset(made))
    files = publish(plan([model], steps, run, run=f"{run:%Y%m%d_%H}"), folder, forecaster)
    return {(model.id, one.hour): MadeHour(one.key, one.index_key) for one, _ in files}
