"""The `gribmill` command: global options, and the table of commands."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import click

from gribmill.cli.invocation import Invocation
from gribmill.cli.lazy_group import LazyGroup
from gribmill.errors import GribmillError, sentence
from gribmill.version import __version__

OUTPUT_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
COMMANDS = {
    "backfill": ("gribmill.cli.chain.backfill:backfill", "Fetch past runs of a model."),
    "config": ("gribmill.cli.config:config", "Show the settings in effect and where each came from."),
    "cut": ("gribmill.cli.data.cut:cut", "Cut GRIB files into tiles, without the queue."),
    "db": ("gribmill.cli.database.group:db", "Create, upgrade, check and move the database."),
    "definitions": (
        "gribmill.cli.definitions.group:definitions",
        "List and tune job types, and add types that run commands.",
    ),
    "demo": ("gribmill.cli.demo.command:demo", "Take a guided tour with real processes, without a network."),
    "direct": ("gribmill.cli.workers.direct:direct", "Run one job now in the foreground, ahead of the queue."),
    "doctor": ("gribmill.cli.doctor:doctor", "Check this machine and the data root, and repair what is wrong."),
    "events": ("gribmill.cli.events.events:events", "List, follow and report events."),
    "event": ("gribmill.cli.chain.event:event", "Scan the models for which a notification announces new files."),
    "fetch": ("gribmill.cli.chain.fetch:fetch", "Download the messages you need from one file, without the queue."),
    "grib": ("gribmill.cli.data.grib.group:grib", "List the contents of GRIB files."),
    "inventory": ("gribmill.cli.chain.inventory:inventory", "List the fields of a published file."),
    "groups": ("gribmill.cli.groups:groups", "Follow, cancel and retry jobs that belong together."),
    "init": ("gribmill.cli.init:init", "Write a commented gribmill.toml."),
    "jobs": ("gribmill.cli.jobs.group:jobs", "List, enqueue, retry, cancel and check jobs."),
    "mirrors": ("gribmill.cli.chain.mirrors:mirrors", "List mirrors, and reset failing ones."),
    "models": ("gribmill.cli.chain.models.group:models", "List, show and check the models that can be ingested."),
    "point": ("gribmill.cli.data.point.command:point", "Show the forecast at a place, from existing tiles."),
    "prune": ("gribmill.cli.chain.prune:prune", "Remove old runs."),
    "regions": ("gribmill.cli.data.regions.group:regions", "List, show and check regions."),
    "run": ("gribmill.cli.chain.run:run", "Keep the tiles of the chosen models and regions up to date."),
    "sandbox": ("gribmill.cli.sandbox:sandbox", "Serve synthetic forecasts over HTTP, for demos and tests."),
    "scan": ("gribmill.cli.chain.scan:scan", "Look for new runs of a model."),
    "serve": ("gribmill.cli.serve:serve", "Serve the HTTP API and the console."),
    "status": ("gribmill.cli.chain.status:status", "Show which models are up to date, and what is missing."),
    "templates": (
        "gribmill.cli.templates:templates",
        "Save arguments and options under a name, and enqueue jobs from them.",
    ),
    "tenants": ("gribmill.cli.tenants:tenants", "List, add and change tenants and their limits."),
    "tick": ("gribmill.cli.workers.tick:tick", "Claim a few jobs, run them in this process, and exit."),
    "tile": ("gribmill.cli.data.tile.group:tile", "Inspect, draw, compare and verify tiles."),
    "tokens": ("gribmill.cli.tokens:tokens", "Create, list and revoke access tokens for the server."),
    "triggers": ("gribmill.cli.triggers.group:triggers", "Enqueue jobs on a schedule or in response to events."),
    "webhooks": ("gribmill.cli.events.webhooks:webhooks", "Send events to your own URL."),
    "work": ("gribmill.cli.workers.work:work", "Run jobs until stopped."),
    "workers": ("gribmill.cli.workers.workers:workers", "List, drain and dismiss workers."),
}
# These commands read no settings, so they also work with an invalid settings file.
WITHOUT_SETTINGS = {"init", "grib"}


class NonEmptyPath(click.Path):
    """A path that must not be empty, because an empty one would mean the working directory."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("the path is empty; omit the option or give a path", param, ctx)
        return super().convert(value, param, ctx)


def print_version(ctx: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    """Print the version and which decoder is in use."""
    if not wanted or ctx.resilient_parsing:
        return
    from gribmill.kernel.native import state

    click.echo(f"gribmill, version {__version__} (kernel: {state()})")
    ctx.exit()


@click.group(
    cls=LazyGroup,
    table=COMMANDS,
    aliases={"mirror": "sandbox"},
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option(
    "--data", type=NonEmptyPath(file_okay=False, path_type=Path), help="The data root (jobs.db, grib/, tiles/)."
)
@click.option("--config", "config_file", type=NonEmptyPath(dir_okay=False, path_type=Path), help="The settings file.")
@click.option("--log-json", is_flag=True, default=None, help="Log one JSON object per line.")
@click.option("--log-level", type=click.Choice(["debug", "info", "warning", "error"]), help="Minimum log level.")
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=print_version, help="Show the version."
)
@click.pass_context
def cli(
    ctx: click.Context,
    data: Path | None,
    config_file: Path | None,
    log_json: bool | None,
    log_level: str | None,
) -> None:
    """Follow NOAA and ECMWF forecasts, and cut their GRIB files into small NPZ tiles per region.

    Start with `gribmill demo`, or with `gribmill run --model hrrr --region ne`.

    Settings come from gribmill.toml, GRIBMILL_* variables and options; later sources override
    earlier ones. `gribmill config show` lists the values in effect and where each came from.
    """
    if ctx.invoked_subcommand in WITHOUT_SETTINGS:
        return

    from gribmill.logs import set_up_logging

    flags = {"data": data, "log.format": "json" if log_json else None, "log.level": log_level}
    invocation = Invocation(config_file, {key: value for key, value in flags.items() if value is not None})
    ctx.meta[Invocation.META_KEY] = invocation
    ctx.obj, _ = invocation.settings()
    if ctx.obj.variables:
        from gribmill.pipeline.models import use_configured_variables

        use_configured_variables(ctx.obj)
    set_up_logging(ctx.obj.log, _describe_end)


def _describe_end(end: Any) -> str:
    """Describe how a job ended, in one line. Imported late, because only workers log such lines."""
    from gribmill.pipeline.job_text import end_text

    return end_text(end)


def _is_check(words: Sequence[str]) -> bool:
    return "status" in words and "--check" in words


def _end_check(error: str) -> NoReturn:
    """Exit with UNKNOWN: to a monitoring system, unreadable settings are not a warning."""
    from gribmill.cli.chain.status_check import unknown_line

    code, line = unknown_line(error)
    click.echo(line)
    sys.exit(code)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; a GribmillError or a file's OSError becomes one line on stderr and exit code 1."""
    if sys.stdout is None:
        # The caller closed stdout (>&-). Its file descriptor must not be reused for a database that is opened next.
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        # Names of files need not be valid in the encoding of the terminal.
        sys.stdout.reconfigure(errors="backslashreplace")
    # NumPy's linear algebra, which gribmill hardly uses, starts a thread per core at import: 60 ms of CPU.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        cli.main(arguments, prog_name="gribmill")
    except GribmillError as error:
        if _is_check(sys.argv[1:] if arguments is None else arguments):
            _end_check(str(error))
        click.echo(f"error: {sentence(str(error))}", err=True)
        sys.exit(1)
    except OSError as error:
        # Errors about files have a file name; without one, writing to stdout failed.
        if error.filename is not None:
            click.echo(sentence(f"error: {error.filename}: {error.strerror}"), err=True)
            sys.exit(1)
        if error.errno not in OUTPUT_ERRORS:
            raise
        click.echo(f"error: cannot write the output: {error.strerror}", err=True)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # so that flushing at exit does not fail again
        sys.exit(1)


if __name__ == "__main__":
    main()
