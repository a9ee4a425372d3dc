"""The chain's part of the demo: a publisher, a follower, tiles, and what one does with them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from gribmill.cli.demo.stage import Stage, StepFailed
from gribmill.storage.layout import DataRoot

MODELS = ("hrrr", "gfs")
REGIONS = ("ne", "conus", "europe")
HOURS = "0-3"
EVERY_SECONDS = 3
# Every fourth point of the true grids: the same maps, quick on any machine.
COARSE = 4
BOSTON = ("42.36", "-71.06")
PATIENCE_SECONDS = 100.0


def publish(stage: Stage) -> None:
    """A publisher starts: made-up forecasts of two models on their true maps, an hour every few seconds"""
    stage.tell("HRRR is on a Lambert map with winds along its grid, GFS on latitudes and longitudes.")
    words = ["--make", ",".join(MODELS), str(stage.folder / "cloud"), "--hours", HOURS, "--coarse", str(COARSE)]
    words += ["--every", str(EVERY_SECONDS), "--serve", "--port", str(stage.port)]
    stage.start("sandbox", *words)
    cloud = stage.folder / "cloud"
    stage.wait_until(
        "the first file is out", lambda: stage.check_alive() and any(cloud.rglob("*.idx")), PATIENCE_SECONDS
    )


def follow(stage: Stage) -> None:
    """gribmill run follows both models: it finds the hours as they come out, and cuts them for three regions"""
    words = [word for model in MODELS for word in ("--model", model)]
    words += [word for region in REGIONS for word in ("--region", region)]
    stage.start("run", *words)
    catalogue = stage.catalogue
    stage.wait_until("the first tiles are built", lambda: stage.check_alive() and _tiles(stage) > 0, PATIENCE_SECONDS)
    first = _tiles(stage)
    complete = [catalogue.newest_complete_run(model, "ne") for model in MODELS]
    stage.promise(
        all(run is None for run in complete), f"{first} tiles are here, and no half run is called complete yet"
    )
    stage.wait_until("both runs are whole", lambda: stage.check_alive() and _whole(stage), PATIENCE_SECONDS)
    stage.promise(True, f"both runs are whole: {_tiles(stage)} tiles, each seen as its hour came out")


def status(stage: Stage) -> None:
    """What is fresh and what is not"""
    stage.gribmill("status", "--runs", "1")
    stage.gribmill("jobs", "stats")


def look(stage: Stage) -> None:
    """A tile is a plain NPZ file; drawn here, and as a map"""
    tile = _a_tile(stage, "hrrr", "ne")
    stage.gribmill("tile", "info", str(tile))
    stage.gribmill("tile", "show", str(tile), "t2m")
    picture = stage.folder / "t2m.png"
    stage.gribmill("tile", "plot", str(tile), "t2m", "--barbs", "--out", str(picture))
    stage.promise(picture.is_file(), f"a map with coastlines and wind barbs lies in {picture.name}")


def point(stage: Stage) -> None:
    """The forecast at a place, from the tiles alone"""
    code = stage.gribmill("point", *BOSTON)
    stage.promise(code == 0, "Boston has a forecast")


def again(stage: Stage) -> None:
    """A second look finds nothing new, and the queue kept every promise"""
    before = _tiles(stage)
    for model in MODELS:
        stage.gribmill("scan", model, "--here")
    pending = stage.store.types.stats()
    stage.promise(
        all(not kind.counts.get("pending") for kind in pending if kind.type == "ingest_grib")
        and _tiles(stage) == before,
        "nothing was downloaded twice",
    )
    stage.promise(not DataRoot(stage.folder).spooled(), "the spool is empty: every message became tiles")
    stage.promise(stage.gribmill("jobs", "verify") == 0, "every promise of the queue holds")


CHAIN_STEPS: list[Callable[[Stage], None]] = [publish, follow, status, look, point, again]


def _tiles(stage: Stage) -> int:
    catalogue = stage.catalogue
    return sum(len(catalogue.tiles(run.ref)) for run in catalogue.runs())


def _whole(stage: Stage) -> bool:
    records = {run.model_id: run.state for run in reversed(stage.catalogue.runs()) if run.state == "complete"}
    return all(model in records for model in MODELS)


def _a_tile(stage: Stage, model: str, region: str) -> Path:
    for folder in DataRoot(stage.folder).tile_folders(model, region=region):
        if tiles := folder.tiles():
            return [*tiles.values()][-1]
    raise StepFailed(f"there is a tile of {model} for {region}")
