"""The chain part of the demo: publish, follow, and use the tiles."""

from __future__ import annotations

from collections.abc import Callable

from gribmill.cli.demo.stage import Stage, StepFailed
from gribmill.queue.store.jobs.listing import JobFilter
from gribmill.storage.layout import DataRoot
from gribmill.storage.object_path import StoredPath

MODELS = ("hrrr", "gfs")
REGIONS = ("ne", "conus", "europe")
HOURS = "0-3"
EVERY_SECONDS = 3
# Every fourth grid point of the same projections: fast on any machine.
COARSE = 4
BOSTON = ("42.36", "-71.06")
PATIENCE_SECONDS = 100.0


def publish(stage: Stage) -> None:
    """A publisher starts: synthetic forecasts of two models, one hour every few seconds"""
    stage.say("HRRR is on a Lambert grid with grid-relative winds, GFS on a latitude-longitude grid.")
    words = ["--make", ",".join(MODELS), str(stage.folder / "cloud"), "--hours", HOURS, "--coarse", str(COARSE)]
    words += ["--every", str(EVERY_SECONDS), "--serve", "--port", str(stage.port)]
    stage.start("sandbox", *words)
    cloud = stage.folder / "cloud"
    stage.wait_until(
        "the first file is published", lambda: stage.check_alive() and any(cloud.rglob("*.idx")), PATIENCE_SECONDS
    )


def follow(stage: Stage) -> None:
    """gribmill run follows both models: it finds each hour as it is published, and cuts it for three regions"""
    words = [word for model in MODELS for word in ("--model", model)]
    words += [word for region in REGIONS for word in ("--region", region)]
    stage.start("run", *words)
    catalogue = stage.catalogue
    stage.wait_until("the first tiles are built", lambda: stage.check_alive() and _tiles(stage) > 0, PATIENCE_SECONDS)
    first = _tiles(stage)
    complete = [catalogue.newest_complete_run(model, "ne") for model in MODELS]
    stage.check(all(run is None for run in complete), f"{first} tiles are built, and no partial run is marked complete")
    stage.wait_until("both runs are complete", lambda: stage.check_alive() and _complete(stage), PATIENCE_SECONDS)
    stage.check(True, f"both runs are complete: {_tiles(stage)} tiles, each built after its hour was published")


def status(stage: Stage) -> None:
    """Which models are up to date"""
    stage.gribmill("status", "--runs", "1")
    stage.gribmill("jobs", "stats")


def look(stage: Stage) -> None:
    """A tile is a plain NPZ file; drawn in the terminal and as a map"""
    tile = _a_tile(stage, "hrrr", "ne")
    stage.gribmill("tile", "info", str(tile))
    stage.gribmill("tile", "show", str(tile), "t2m")
    picture = stage.folder / "t2m.png"
    stage.gribmill("tile", "plot", str(tile), "t2m", "--barbs", "--out", str(picture))
    stage.check(picture.is_file(), f"{picture.name} is a map with coastlines and wind barbs")


def point(stage: Stage) -> None:
    """The forecast at a place, from the tiles"""
    code = stage.gribmill("point", *BOSTON)
    stage.check(code == 0, "there is a forecast for Boston")


def again(stage: Stage) -> None:
    """A second scan finds nothing new, and all invariants of the queue hold"""
    before, downloads = _scans(stage), _downloads(stage)
    codes = [stage.gribmill("scan", model, "--here") for model in MODELS]
    stage.check(not any(codes) and _scans(stage) >= before + len(MODELS), "both models were scanned again just now")
    stage.check(_downloads(stage) == downloads, f"nothing is downloaded twice: {downloads} files, as before")
    stage.check(not DataRoot(stage.folder).spooled(), "no downloaded messages are left: all were cut into tiles")
    stage.check(stage.gribmill("jobs", "verify") == 0, "all invariants of the queue hold")


CHAIN_STEPS: list[Callable[[Stage], None]] = [publish, follow, status, look, point, again]


def _scans(stage: Stage) -> int:
    """The number of scans that have ended."""
    jobs = stage.store.jobs.list(JobFilter(type="scan_source"), limit=1000).jobs
    attempts = (one for job in jobs for one in stage.store.jobs.history(job.id).attempts)
    return sum(one.finished_at is not None for one in attempts)


def _downloads(stage: Stage) -> int:
    return len(stage.store.jobs.list(JobFilter(type="ingest_grib"), limit=1000).jobs)


def _tiles(stage: Stage) -> int:
    catalogue = stage.catalogue
    return sum(len(catalogue.tiles(run.ref)) for run in catalogue.runs())


def _complete(stage: Stage) -> bool:
    records = {run.model_id: run.state for run in reversed(stage.catalogue.runs()) if run.state == "complete"}
    return all(model in records for model in MODELS)


def _a_tile(stage: Stage, model: str, region: str) -> StoredPath:
    for folder in DataRoot(stage.folder).tile_folders(model, region=region):
        if tiles := folder.tiles():
            return [*tiles.values()][-1]
    raise StepFailed(f"there is no tile of {model} for {region}")
