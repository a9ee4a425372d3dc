"""`gribmill sandbox`: a publisher of synthetic forecasts, for demos, tests and load tests."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gribmill.cli.options.number_range import NumberRange
from gribmill.cli.options.parse_names import parse_names
from gribmill.ingest.index.select import wanted
from gribmill.ingest.models.registry import models_named
from gribmill.pipeline.models import configured_models
from gribmill.regions.region import built_in_regions
from gribmill.regions.window import window
from gribmill.sandbox.client_settings import client_settings, client_tables
from gribmill.sandbox.errors import SandboxError
from gribmill.sandbox.forecast.forecast import Forecaster, model_grid
from gribmill.sandbox.forecast.thinned_grid import thinned
from gribmill.sandbox.publication import models_in, plan, publish
from gribmill.sandbox.publisher.fault import parse_fault
from gribmill.sandbox.publisher.faults import Faults
from gribmill.sandbox.publisher.server import Server
from gribmill.settings.schema import Settings
from gribmill.stop_signals import handle_stop_signals

if TYPE_CHECKING:
    from gribmill.ingest.models.model import Model
    from gribmill.sandbox.publication import Publication, PublicationPlan, Wait
    from gribmill.sandbox.publisher.server import Server

DEFAULT_PORT = 8750
MAX_PORT = 65535


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, MAX_PORT),
    default=DEFAULT_PORT,
    show_default=True,
    help="The port; 0 for any free one.",
)
@click.option(
    "--make",
    "names",
    metavar="MODELS",
    callback=parse_names,
    help="Fill DIR with synthetic files of these models (hrrr,gfs,gefs.p01).",
)
@click.option("--run", metavar="RUN", help="The run to make, such as 20260901_12. [default: the newest]")
@click.option(
    "--runs", type=click.IntRange(1, 100), default=1, show_default=True, help="Number of newest runs to make."
)
@click.option("--hours", default="0-6", show_default=True, help="The hours to make, such as 0-18 or 0-120/3.")
@click.option(
    "--vars", "only", metavar="NAMES", callback=parse_names,
    help="Only these variables. [default: all of the model, and others between them]",
)  # fmt: skip
@click.option("--every", type=NumberRange(0, 86400), default=0.0, help="Seconds to wait between hours.")
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Random seed; the same seed gives the same bytes.",
)
@click.option(
    "--coarse", type=click.IntRange(1, 100), default=1,
    help="Keep every Nth grid point, on the same projection: faster demos.",
)  # fmt: skip
@click.option("--serve", is_flag=True, help="With --make: also serve, from the first file on.")
@click.option(
    "--config-out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="With --make and --serve: write settings that use this server. An existing FILE is not replaced.",
)  # fmt: skip
@click.option("--fault", "faults", multiple=True, metavar="FAULT", help="A fault to inject, see above; repeatable.")
@click.option("--multi-range", is_flag=True, help="Support several ranges in one request, as NOMADS and ECMWF do.")
@click.option("--no-digests", is_flag=True, help="Send no Content-Digest header, like S3.")
@click.pass_obj
def sandbox(
    settings: Settings, folder: Path, host: str, port: int, names: tuple[str, ...], run: str | None, runs: int,
    hours: str, only: tuple[str, ...], every: float, seed: int, coarse: int, serve: bool, config_out: Path | None,
    faults: tuple[str, ...], multi_range: bool, no_digests: bool,
) -> None:  # fmt: skip
    """Serve the folder DIR over HTTP as cloud mirrors do, or fill it with synthetic forecasts.

    Supports S3's LIST (each top-level folder is a bucket), HEAD, GET, ranges, ETags, conditional
    requests, and HTML pages of folders. With --make, GRIB2 files are made on the models' own grids
    and in their own packing, with indexes, under the keys of each model's first mirror.

    \b
    gribmill sandbox DIR                                   serve the files in DIR
    gribmill sandbox --make hrrr DIR                       seven hours of the newest HRRR run
    gribmill sandbox --make hrrr,gfs DIR --coarse 4 --every 5 --serve
                                                           two models, one hour every five seconds
    gribmill sandbox --make hrrr DIR --serve --config-out gribmill.toml
                                                           with settings for `gribmill run` in another terminal
    gribmill sandbox DIR --fault 500:0.2x2 --fault flip:3  a fifth of the files fails twice; hour 3 is corrupted

    \b
    Faults, as KIND, KIND:SHARE (0.25 of the files), KIND:HOURS (3 or 0-6); xN affects only the first N requests:
    truncate   only the first part of the file      stale-idx  the index of an earlier version
    slow       20 kB/s                              500        InternalError instead of the file
    flip       a flipped bit in the response        vanish     listed, but 404 when fetched
    replace    repacked after the first request     cut        the connection breaks in mid-response
    503        SlowDown, with Retry-After           bot-page   an HTML page instead of the file
    no-range   the whole file for every range       reset      the connection is reset
    stall      silence in mid-response
    """
    if config_out is not None and not (names and serve):
        raise click.UsageError("--config-out needs --make and --serve")
    if run is not None and runs > 1:
        raise click.UsageError("--run and --runs exclude each other")
    known = configured_models(settings)
    models = [model for name in names for model in models_named(known, name)]
    found = Faults([parse_fault(text) for text in faults], seed)
    if models:
        _make_folder(folder)
        planned, publishing = _publishing(models, folder, hours, run, runs, only, seed, coarse)
    server = None
    if serve or not models:
        server = Server(folder, found, host=host, port=port, digests=not no_digests, multi_range=multi_range)
    stop = _stop_on_signals()
    if server:
        server.start()
        made = planned if models else None
        _announce(server, folder, models or models_in(known.values(), folder), made, quiet=config_out is not None)
        if config_out is not None:
            _write_settings(config_out, client_settings(models, server.url, made, _regions(settings, models)))
    try:
        if models:
            _show(publishing(every, stop.wait))
        if server:
            stop.wait()
    finally:
        if server:
            server.stop()
            click.echo(f"stopped after {len(server.seen)} requests", err=True)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SandboxError(f"cannot create the folder {folder}: {error.strerror}") from None


def _publishing(
    models: Sequence[Model], folder: Path, hours: str, run: str | None, runs: int, only: Sequence[str],
    seed: int, coarse: int,
) -> tuple[PublicationPlan, Callable[[float, Wait], Iterator[tuple[Publication, int]]]]:  # fmt: skip
    """Check all options and return the plan, and a function that makes the files when called with the interval."""
    wanted(only)
    for model in models:
        thinned(model_grid(model), coarse)
    planned = plan(models, hours, datetime.now(UTC), run=run, runs=runs)
    forecaster = Forecaster(seed, coarse, frozenset(only))
    return planned, lambda every, wait: publish(planned, folder, forecaster, every_seconds=every, wait=wait)


def _show(published: Iterator[tuple[Publication, int]]) -> None:
    for publication, size in published:
        click.echo(f"{datetime.now(UTC):%H:%M:%S}  {publication.key}  {size / 1e6:.1f} MB")


def _regions(settings: Settings, models: Sequence[Model]) -> list[str]:
    """The regions of [chain], or the first built-in region that all these models cover."""
    if settings.chain.regions:
        return [*settings.chain.regions]
    grids = [model_grid(model) for model in models]
    boxes = {name: region.box for name, region in built_in_regions().items()}
    return [name for name, box in boxes.items() if all(window(grid, box) for grid in grids)][:1]


def _write_settings(path: Path, text: str) -> None:
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise SandboxError(f"{path} exists already and is not replaced; remove it or choose another name") from None
    except OSError as error:
        raise SandboxError(f"cannot write {path}: {error.strerror}") from None
    click.echo(f"wrote {path}: `gribmill run` in the same folder downloads from here")


def _announce(
    server: Server, folder: Path, models: Sequence[Model], made: PublicationPlan | None, *, quiet: bool
) -> None:
    click.echo(f"serving {folder} at {server.url}  (Ctrl-C stops)")
    if quiet:
        return
    if models:
        click.echo(f"to use only this server, add to gribmill.toml:\n\n{client_tables(models, server.url, made)}")
    else:
        click.echo("to use it as a mirror, add its name and this address to [roots] in gribmill.toml:")
        click.echo(f'aws-hrrr = "{server.url}FOLDER/"')


def _stop_on_signals() -> threading.Event:
    stop = threading.Event()
    handle_stop_signals(lambda *_: stop.set())
    return stop
