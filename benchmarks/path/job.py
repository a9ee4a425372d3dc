"""The whole job, from claim to completion: a real worker runs build_tile jobs, and samples show where time goes."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.environment import ROOT, process_environment
from benchmarks.hours import made
from benchmarks.path.sampler import stages
from benchmarks.regions import EIGHT
from gribmill.catalogue.events import Event, HourIngested, RunSeen
from gribmill.catalogue.reads import Catalogue
from gribmill.grib.decode.field import read_fields
from gribmill.identity import RunRef
from gribmill.pipeline.job_types import BUILD_TILE
from gribmill.pipeline.open_queue import open_queue
from gribmill.queue.model import NewJob
from gribmill.settings.schema import Settings
from gribmill.storage.layout import DataRoot
from gribmill.tiles.build.describe_fields import lexicon_name

RUN = "20260901_12"
WARM_UP_HOURS = 3
TITLES = {"hrrr": "HRRR", "gfs": "GFS 0.25°", "ifs": "IFS 0.25°"}


def measure(rounds: int) -> dict[str, Any]:
    """By model and clock: seconds of one hour (a batch of eight regions) by stage; peak memory of the executor."""
    return {
        model: {"title": title, **{clock: _hours(model, clock, 4 * rounds) for clock in ("cpu", "wall")}}
        for model, title in TITLES.items()
    }


def _hours(model: str, clock: str, hours: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        _fill(data, model, WARM_UP_HOURS + hours)
        command = [sys.executable, "-m", "benchmarks.path.sampled", folder, clock, str(WARM_UP_HOURS * len(EIGHT))]
        environment = process_environment(PYTHONPATH=str(ROOT))
        subprocess.run(command, check=True, env=environment, stderr=subprocess.DEVNULL, cwd=ROOT)
        both = {name: json.loads((data / f"{name}.json").read_text()) for name in ("executor", "supervisor")}
        tiles = len(list(data.glob("tiles/**/[0-9]*.npz")))
    assert tiles == (WARM_UP_HOURS + hours) * len(EIGHT), f"{tiles} tiles were built"
    batches = both["executor"]["jobs"] / len(EIGHT)
    found: dict[str, float] = {}
    for one in both.values():
        for stage, seconds in stages(one["places"]).items():
            found[stage] = found.get(stage, 0.0) + seconds / batches
    places = {place: seconds / batches for one in both.values() for place, seconds in one["places"].items()}
    return {
        "batches": batches,
        "seconds": round(sum(found.values()), 5),
        "executor": round(sum(stages(both["executor"]["places"]).values()) / batches, 5),
        "stages": {stage: round(seconds, 5) for stage, seconds in sorted(found.items(), key=lambda item: -item[1])},
        "places": {place: round(seconds, 5) for place, seconds in sorted(places.items(), key=lambda it: -it[1])[:40]},
        "peak_mb": round(both["executor"]["peak_mb"], 1),
    }


def _fill(data: Path, model: str, hours: int) -> None:
    """Messages in the spool, hours in the catalogue, jobs in the queue: the state after a download."""
    settings = Settings(data=data)
    assert settings.data_root == data, "a benchmark must not use an existing queue"
    store = open_queue(settings)
    catalogue = Catalogue(store.database)
    source = made(model)
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    names = [name for field in read_fields(source) if (name := lexicon_name(field))]
    run = RunRef(model, RUN)
    events: list[Event] = [RunSeen(run, tuple(range(hours)))]
    jobs = []
    for hour in range(hours):
        spool = DataRoot(data).spool(run.hour(hour))
        spool.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, spool)
        size = spool.stat().st_size
        of_hour = {"model_id": model, "run_id": RUN, "hour": hour}
        ingested = HourIngested(
            run.hour(hour), "made", "made", etag=None, bytes=size, requested_bytes=size, requests=1, sha256=digest,
            found=tuple(names), missing=(), regions=tuple(EIGHT), asked=tuple(EIGHT), keep_grib=True,
        )  # fmt: skip
        events.append(ingested)
        jobs += [NewJob(BUILD_TILE.key, {**of_hour, "region": name}) for name in EIGHT]
    catalogue.record(events)
    store.jobs.enqueue_many(jobs)
    store.close()
