"""`python -m benchmarks.server`: forecasts, tiles, lists and event streams under load, into results/server.md."""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from benchmarks.environment import ROOT, process_environment
from benchmarks.machine import machine_lines
from benchmarks.peers import peer_python, versions
from benchmarks.queue.postgres_server import durable_server
from benchmarks.results_folder import results_folder
from benchmarks.server.contender import Contender, free_port, running
from benchmarks.server.load import put_load
from benchmarks.server.many_jobs import FINISHED, many_jobs
from benchmarks.server.many_jobs_postgres import fill_postgres
from benchmarks.server.page import LoopResult, Measured, page
from benchmarks.server.pages import PageTimes, page_times
from benchmarks.server.points import TITLES, places_together, points, same_values
from benchmarks.server.row import Row
from benchmarks.server.streams import stream_costs
from benchmarks.store.stock import HOURS, LAT, LON, REGION, RUN, stock
from gribmill.storage.latest import KnownRuns, LatestRuns, publish_latest
from gribmill.storage.layout import DataRoot, TileFolder
from gribmill.tiles.read.tile import Tile, read_tile
from tests.servers.postgres import NoServer

PEERS = ["xarray", "dask", "zarr", "netcdf4", "numpy", "fastapi", "uvicorn", "httptools", "uvloop"]
WAYS = Path(__file__).parent / "ways"
SENDFILE = "sendfile(2) alone: threads of Python without HTTP parsing"
QUICK_JOBS = 200_000
LONGEST_ROUND_SECONDS = 60.0
NETCDF = (
    "import sys, xarray as xr\n"
    "data = xr.open_zarr(sys.argv[1])\n"
    "how = {name: {'zlib': True, 'complevel': 4} for name in data}\n"
    "data = data.drop_encoding().load()\n"
    "data.to_netcdf(sys.argv[2], encoding=how)\n"
    "for hour in range(data.sizes['time']):\n"
    "    data.isel(time=[hour]).to_netcdf(f'{sys.argv[3]}/{hour:03d}.nc', encoding=how)\n"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    rounds, seconds = (1, 2.0) if options.quick else (options.rounds, options.seconds)
    machine = machine_lines()
    python = peer_python("server", PEERS)
    with servers(python) as (contenders, tile):
        same_values(contenders, tile)
        tables = {
            "point": _measure(points(contenders, tile), rounds, seconds, first_seconds=15.0),
            "together": _measure(places_together(contenders, tile), rounds, seconds),
            "tile": _measure(tiles(contenders), rounds, seconds),
            "other": _measure(others(contenders["gribmill"]), rounds, min(seconds, 2.0)),
        }
        memory = {one.title: one.memory_mb for one in contenders.values() if one.title != SENDFILE}
    finished = QUICK_JOBS if options.quick else FINISHED
    requests = 50 if options.quick else 200
    with queue_server(many_jobs(finished)) as server:
        pages = {"SQLite": page_times(server, requests)}
        streams = stream_costs(server, 5.0 if options.quick else 10.0)
    with contextlib.suppress(NoServer):
        pages["PostgreSQL"] = postgres_page_times(finished, requests)
    found = Measured(tables, memory, pages, streams, finished, rounds, seconds)
    text = page(found, machine, versions(python, PEERS), TITLES)
    target = results_folder(quick=options.quick) / "server.md"
    target.write_text(text)
    sys.stdout.write(f"{text}\n{target}\n")


def postgres_page_times(finished: int, requests: int) -> dict[str, PageTimes]:
    with durable_server() as postgres, tempfile.TemporaryDirectory(prefix="gribmill-bench-") as folder:
        root = fill_postgres(postgres.new_database("many"), Path(folder), finished)
        with queue_server(root) as server:
            return page_times(server, requests)


@contextmanager
def queue_server(root: Path) -> Iterator[Contender]:
    """A server on a data root with many finished jobs. `--dev`: events are emitted without a token."""
    port = free_port()
    words: list[str | Path] = [
        sys.executable,
        "-m",
        "gribmill",
        "--config",
        root / "gribmill.toml",
        "serve",
        "--dev",
        "--port",
        str(port),
    ]
    with running("**gribmill**", words, port, process_environment(PYTHONPATH=str(ROOT)), "/healthz") as found:
        yield found


@contextmanager
def servers(python: Path) -> Iterator[tuple[dict[str, Contender], Tile]]:
    """gribmill, and FastAPI with xarray over zarr and NetCDF, all with the same run."""
    made = stock(python)
    netcdf, hourly = made.tiles / "run.nc", made.tiles / "hourly"
    if not netcdf.is_file() or not hourly.is_dir():
        part = netcdf.with_suffix(".part")
        hourly.mkdir(exist_ok=True)
        subprocess.run([python, "-c", NETCDF, made.zarr, part, hourly], check=True)
        part.rename(netcdf)
    known = KnownRuns({REGION: LatestRuns(RUN, RUN)}, hours={RUN: HOURS})
    publish_latest(DataRoot(made.tiles), "hrrr", lambda: known)
    path = TileFolder(made.tiles, "hrrr", RUN, REGION).tile(60)
    tile = read_tile(path)
    with ExitStack() as resources:
        found: dict[str, Contender] = {}
        port = free_port()
        words: list[str | Path] = [sys.executable, "-m", "gribmill", "--data", made.tiles, "serve", "--port", str(port)]
        ours = process_environment(PYTHONPATH=str(ROOT))
        found["gribmill"] = resources.enter_context(running("**gribmill**", words, port, ours, "/healthz"))
        for key, source in (("zarr", made.zarr), ("hourly", hourly), ("netcdf", netcdf)):
            port = free_port()
            words = [python, "-m", "uvicorn", "usual_app:app", "--port", str(port), "--log-level", "warning"]
            theirs = process_environment(PYTHONPATH=str(WAYS), BENCH_SOURCE=str(source), BENCH_TILE=str(path))
            found[key] = resources.enter_context(running(TITLES[key], words, port, theirs, "/openapi.json"))
        port = free_port()
        words = [sys.executable, WAYS / "sendfile_server.py", str(path), str(port)]
        found["sendfile"] = resources.enter_context(running(SENDFILE, words, port, process_environment(), "/"))
        yield found, tile


def tiles(contenders: dict[str, Contender]) -> list[Row]:
    return [
        Row("**gribmill**", contenders["gribmill"], [f"/api/v1/tiles/hrrr/{RUN}/{REGION}/001.npz"]),
        Row("FastAPI, FileResponse", contenders["zarr"], ["/tile"]),
        Row(SENDFILE, contenders["sendfile"], ["/"]),
    ]


def others(ours: Contender) -> list[Row]:
    place = f"latitude={LAT}&longitude={LON}"
    names = "temperature_2m,dew_point_2m,wind_speed_10m,wind_direction_10m,precipitation,cloud_cover"
    span = "start_date=2026-09-01&end_date=2026-09-03"
    forecast = f"/v1/forecast?{place}&hourly={names}&{span}"
    position = f"/edr/collections/hrrr:{REGION}/position?coords=POINT({LON}%20{LAT})"
    return [
        Row("`/v1/forecast`, JSON, 72 hours × 6", ours, [forecast]),
        Row("`/v1/forecast`, FlatBuffers", ours, [f"{forecast}&format=flatbuffers"]),
        Row("EDR `position`, 49 hours × 12", ours, [position]),
        Row("`/api/v1/runs`", ours, ["/api/v1/runs"]),
        Row("`/api/v1/runs/latest`", ours, ["/api/v1/runs/latest?model=hrrr"]),
        Row("a tile as JSON", ours, [f"/api/v1/tiles/hrrr/{RUN}/{REGION}/001.json"]),
    ]


def _measure(rows: list[Row], rounds: int, seconds: float, first_seconds: float = 0.0) -> dict[str, list[LoopResult]]:
    """All rows in turn, for several rounds. The first round, in which everything is read, is not counted."""
    found: dict[str, list[LoopResult]] = {row.title: [] for row in rows}
    for number in range(rounds + 1):
        for row in rows:
            longest = max(seconds, row.least_seconds, 0.0 if number else first_seconds)
            result = _round(row, longest)
            if number:
                found[row.title].append(result)
    return found


def _round(row: Row, seconds: float) -> LoopResult:
    before = row.contender.cpu_seconds
    load = put_load(row.contender.url, row.paths, seconds, row.connections)
    if load.failed or (not load.requests and seconds > LONGEST_ROUND_SECONDS):
        raise SystemExit(f"{row.title}: {load.failed} of {load.requests} requests failed")
    if not load.requests:
        # The machine is busy: no response was complete.
        return _round(row, 4 * seconds)
    return LoopResult(load, 1000 * (row.contender.cpu_seconds - before) / load.requests)


if __name__ == "__main__":
    main()
