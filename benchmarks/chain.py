"""`python -m benchmarks.chain`: published files to tiles through the whole chain; figures into results/chain.md."""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.machine import machine_lines
from benchmarks.results_folder import command, results_folder
from gribmill.identity import RunRef, run_id
from gribmill.ingest.models.registry import OwnModels, load_models
from gribmill.pipeline.context import Context, make_context
from gribmill.pipeline.job_types import scan_job
from gribmill.pipeline.open_queue import open_queue
from gribmill.pipeline.scan_schedule import scan_now
from gribmill.sandbox.forecast.forecast import Forecaster
from gribmill.sandbox.publication import Publication, plan, publish
from gribmill.sandbox.publisher.server import Server
from gribmill.settings.schema import Settings
from gribmill.settings.toml_file import toml_value
from gribmill.storage.layout import TileFolder
from gribmill.version import __version__

MODELS = ("hrrr", "gfs")
REGIONS = ("ne", "nw", "sw", "se", "mw", "mid_atlantic", "great_lakes", "southern_plains")
# The shortest scan interval allowed.
SCAN_SECONDS = 5
DEADLINE_SECONDS = 1800.0
LOOK_AGAIN_SECONDS = 0.005


@dataclass(frozen=True, slots=True)
class Traffic:
    """Traffic of one model's files."""

    model_id: str
    files: int
    needed: int
    requested: int
    requests: int

    @property
    def ratio(self) -> float:
        return self.requested / self.needed


@dataclass(frozen=True, slots=True)
class Waits:
    """Seconds from the publication of a file and its index to each of its tiles, by how the scan learned of it."""

    way: str
    first: tuple[float, ...]
    last: tuple[float, ...]


@dataclass(frozen=True)
class Bench:
    """Generated files that can be published, and settings of a data root that follows them."""

    folder: Path
    stock: Path
    run: datetime
    hours: int
    files: tuple[Publication, ...]

    def tables(self, url: str) -> dict[str, Any]:
        return model_tables(self.run, self.hours, url)

    def settings(self, data: Path, url: str) -> Settings:
        return Settings.model_validate(
            {"data": data, "models": self.tables(url), "chain": {"models": MODELS, "regions": REGIONS, "runs_back": 1}}
        )

    def publish(self, file: Publication, mirror: Path) -> float:
        """Publish the file, then its index; returns when."""
        for key in filter(None, (file.key, file.index_key)):
            (mirror / key).parent.mkdir(parents=True, exist_ok=True)
            os.link(self.stock / key, mirror / key)
        return time.time()


def model_tables(run: datetime, hours: int, url: str) -> dict[str, Any]:
    """Both models with short runs on one mirror; otherwise as built in."""
    return {
        name: {
            "hours": [{"cycles": str(run.hour), "steps": f"0-{hours - 1}"}],
            "latency": [{"points": [[0, 0, 9000]]}],
            "scan_seconds": SCAN_SECONDS,
            "mirrors": [{"name": f"aws-{name}", "host": "aws", "root": f"{url}aws-{name}/"}],
        }
        for name in MODELS
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hours", type=int, default=6, help="hours of each model")
    parser.add_argument("--coarse", type=int, default=1, help="keep every Nth grid point, for a quick run")
    parser.add_argument("--quick", action="store_true", help="one hour of every fourth point, into results/quick")
    options = parser.parse_args()
    hours, coarse = (1, 4) if options.quick else (options.hours, options.coarse)
    lines = machine_lines()
    with tempfile.TemporaryDirectory() as folder:
        bench = make_bench(Path(folder), hours, coarse)
        seconds, traffic = throughput(bench)
        waits = [latency(bench, notified=notified) for notified in (True, False)]
        sizes = {name: _size(bench, name) for name in MODELS}
    page = write_page(lines, coarse, hours, sizes, seconds, traffic, waits)
    (results_folder(quick=options.quick) / "chain.md").write_text(page)
    print(page)


def make_bench(folder: Path, hours: int, coarse: int) -> Bench:
    """All files, generated before the measurement."""
    moment = (datetime.now(UTC) - timedelta(hours=1)).replace(minute=0, second=0, microsecond=0)
    run = moment - timedelta(hours=moment.hour % 6)
    models = load_models(OwnModels(model_tables(run, hours, "http://127.0.0.1:1/")))
    chosen = plan([models[name] for name in MODELS], f"0-{hours - 1}", run, run=f"{run:%Y%m%d_%H}")
    made = []
    for number, (publication, size) in enumerate(publish(chosen, folder / "stock", Forecaster(coarse=coarse)), 1):
        made.append(publication)
        print(f"made {number} of {chosen.files}: {publication.key}, {size / 1e6:.1f} MB", file=sys.stderr)
    return Bench(folder, folder / "stock", run, hours, tuple(made))


def throughput(bench: Bench) -> tuple[float, list[Traffic]]:
    """With every file published: seconds from the first listing to the last tile, and the requests to the mirror."""
    with followed(bench, "all at once") as (mirror, context):
        began = min(bench.publish(file, mirror) for file in bench.files)
        scan_now(open_queue(context.settings), [scan_job(name) for name in MODELS])
        ends = [path.stat().st_mtime for file in bench.files for path in tiles_of(bench, context, file)]
        traffic = [_traffic(context, bench, name) for name in MODELS]
    return max(ends) - began, traffic


def latency(bench: Bench, *, notified: bool) -> Waits:
    """One file after another; the next is published when the tiles of the previous one exist."""
    first: list[float] = []
    last: list[float] = []
    with followed(bench, "notified" if notified else "polled") as (mirror, context):
        store = open_queue(context.settings)
        for file in bench.files:
            out = bench.publish(file, mirror)
            if notified:
                scan_now(store, [scan_job(file.models[0].id)])
            moments = [path.stat().st_mtime for path in tiles_of(bench, context, file)]
            first.append(min(moments) - out)
            last.append(max(moments) - out)
    way = "by notification" if notified else f"by a scan every {SCAN_SECONDS} s"
    return Waits(way, tuple(first), tuple(last))


@contextmanager
def followed(bench: Bench, name: str) -> Iterator[tuple[Path, Context]]:
    """An empty mirror, and a `gribmill run` that waits for its first file with all executors started."""
    mirror = bench.folder / name / "mirror"
    mirror.mkdir(parents=True)
    with Server(mirror) as server:
        settings = bench.settings(bench.folder / name / "data", server.url)
        context = make_context(settings)
        config = bench.folder / name / "gribmill.toml"
        config.write_text(_toml(settings))
        words = [sys.executable, "-m", "gribmill.cli.main", "--config", str(config), "--log-level", "error", "run"]
        process = subprocess.Popen(words, stderr=subprocess.DEVNULL)
        try:
            _until(lambda: len(context.catalogue.runs()) == len(MODELS), "the first scans")
            yield mirror, context
        finally:
            process.terminate()
            process.wait()


def tiles_of(bench: Bench, context: Context, file: Publication) -> list[Path]:
    """The tiles of a file, once all of them exist."""
    model = file.models[0]
    regions = context.regions_of(model, REGIONS)
    folders = [TileFolder(context.root.path, model.id, run_id(bench.run), region) for region in regions]
    paths = [folder.tile(60 * file.hour) for folder in folders]
    _until(lambda: all(path.is_file() for path in paths), f"the tiles of {file.key}")
    return [path for path in paths if isinstance(path, Path)]


def write_page(
    lines: list[str],
    coarse: int,
    hours: int,
    sizes: dict[str, float],
    seconds: float,
    traffic: list[Traffic],
    waits: list[Waits],
) -> str:
    """The results as a page."""
    files = sum(one.files for one in traffic)
    return PAGE.format(
        command=command("chain"),
        machine="\n".join(lines),
        version=__version__,
        grid="full grids" if coarse == 1 else f"every {coarse}th grid point: a quick run, not a result",
        cores=os.cpu_count(),
        hours=hours,
        models=" and ".join(MODELS),
        sizes=", ".join(f"{name} {size / 1e6:.1f} MB" for name, size in sizes.items()),
        regions=", ".join(REGIONS),
        traffic="\n".join(_traffic_row(one) for one in traffic),
        files=files,
        seconds=seconds,
        files_per_minute=files / seconds * 60,
        tiles_per_minute=files * len(REGIONS) / seconds * 60,
        waits="\n".join(_wait_row(one) for one in waits),
    )


def _traffic_row(one: Traffic) -> str:
    return (
        f"| {one.model_id} | {one.files} | {one.needed / 1e6:.2f} | {one.requested / 1e6:.2f} | {one.ratio:.3f}"
        f" | {one.requests / one.files:.1f} |"
    )


def _wait_row(one: Waits) -> str:
    return (
        f"| {one.way} | {_quantile(one.first, 0.5):.2f} | {_quantile(one.first, 0.95):.2f}"
        f" | {_quantile(one.last, 0.5):.2f} | {_quantile(one.last, 0.95):.2f} |"
    )


PAGE = """\
# The chain: from published files to tiles on disk

`{command}` wrote this page.

{machine}
- gribmill {version}; {grid}; default lanes: 4 fetch, {cores} build

**What.** {hours} hours each of {models} (average file size: {sizes}; made by
`gribmill sandbox --make`, with all variables of the models and some others among them) are served by
`gribmill.sandbox` over HTTP on loopback and followed by one `gribmill run` with an empty data root and
the regions {regions}.

**How.** Bytes and requests are counted by the downloads: the index, the wanted messages, and the gaps between
them. "Needed" is the wanted messages alone. Listings are not included: each look at a run takes one request.
Waits are from the moment when both a file and its index were published to the tile's timestamp; the next file is
published when all tiles of the previous one exist. The mirror runs on the same cores, and checksums every range
that it sends.

| model | files | MB needed | MB requested | requested / needed | requests per file |
|---|---|---|---|---|---|
{traffic}

All {files} files published at once: {seconds:.1f} s to the last tile, \
**{files_per_minute:.0f} files per minute** ({tiles_per_minute:.0f} tiles).

| file after file | first tile p50 s | p95 | all tiles p50 s | p95 |
|---|---|---|---|---|
{waits}
"""


def _traffic(context: Context, bench: Bench, model_id: str) -> Traffic:
    hours = context.catalogue.hours(RunRef(model_id, run_id(bench.run))).values()
    return Traffic(
        model_id,
        len(hours),
        sum(hour.bytes or 0 for hour in hours),
        sum(hour.requested_bytes or 0 for hour in hours),
        sum(hour.requests or 0 for hour in hours),
    )


def _size(bench: Bench, model_id: str) -> float:
    files = [file for file in bench.files if file.models[0].id == model_id]
    return statistics.mean((bench.stock / file.key).stat().st_size for file in files)


def _quantile(values: tuple[float, ...], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]


def _until(condition: Any, what: str) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            sys.exit(f"waited {DEADLINE_SECONDS:g} s for {what}")
        time.sleep(LOOK_AGAIN_SECONDS)


def _toml(settings: Settings) -> str:
    values = settings.model_dump(mode="json", exclude_defaults=True, exclude_none=True)
    lines = [f"data = {toml_value(values.pop('data'))}"]
    for name, table in values.items():
        lines += [f"[{name}]", *(f"{key} = {toml_value(value)}" for key, value in table.items())]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
