"""The `gribmill` command: global options, and one lazily imported module per noun."""

from __future__ import annotations

import errno
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from gribmill.cli.invocation import Invocation
from gribmill.errors import GribmillError
from gribmill.version import __version__

OUTPUT_FAULTS = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
# name -> (where the click command lives, one line of help). The help stands here so that
# `gribmill --help` imports none of the modules.
COMMANDS: dict[str, tuple[str, str]] = {
    "backfill": ("gribmill.cli.chain.backfill:backfill", "Fetch past runs of a model."),
    "config": ("gribmill.cli.config:config", "Show the effective settings and where each came from."),
    "cut": ("gribmill.cli.data.cut:cut", "Cut GRIB files into tiles, without any queue."),
    "demo": ("gribmill.cli.demo.command:demo", "A guided tour: everything for real, on this machine alone."),
    "event": ("gribmill.cli.chain.event:event", "Take notifications of new files as hints to scan."),
    "fetch": ("gribmill.cli.chain.fetch:fetch", "Download the wanted messages of one file, without the queue."),
    "grib": ("gribmill.cli.data.grib:grib", "Look into GRIB files."),
    "init": ("gribmill.cli.config:init", "Write a commented gribmill.toml."),
    "jobs": ("gribmill.cli.jobs.group:jobs", "List, enqueue, retry, cancel and check jobs."),
    "models": ("gribmill.cli.chain.models:models", "Models that can be ingested: list, show, check."),
    "point": ("gribmill.cli.data.point:point", "The forecast at a place, from the tiles on disk."),
    "prune": ("gribmill.cli.chain.prune:prune", "Remove old runs."),
    "regions": ("gribmill.cli.data.regions:regions", "Named places: list, show, check."),
    "run": ("gribmill.cli.chain.run:run", "Keep the tiles of some models and regions fresh."),
    "sandbox": (
        "gribmill.cli.sandbox:sandbox",
        "Serve synthetic forecasts over HTTP, for demos and tests.",
    ),
    "scan": ("gribmill.cli.chain.run:scan", "Look for new runs of a model."),
    "status": ("gribmill.cli.chain.status:status", "What is fresh and what is not."),
    "tick": ("gribmill.cli.jobs.work:tick", "Claim a few jobs, run them in this process, report."),
    "tile": ("gribmill.cli.data.tile:tile", "Look into tiles: info, show, plot, diff, verify."),
    "triggers": ("gribmill.cli.jobs.triggers:triggers", "Jobs made by schedules and by events."),
    "work": ("gribmill.cli.jobs.work:work", "Run jobs until told to stop."),
    "workers": ("gribmill.cli.jobs.workers:workers", "The workers and their heartbeats."),
}

# Former names. They work, and are not listed.
ALIASES = {"mirror": "sandbox"}

# They read no settings: they work beside a broken file, and start without what checks one.
WITHOUT_SETTINGS = {"init", "grib"}


class NamedPath(click.Path):
    """A path that is not empty: an empty one would pass for the working folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("it names nothing: leave it out, or give a path", param, ctx)
        return super().convert(value, param, ctx)


class Nouns(click.Group):
    """A group whose commands are imported when they are named."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        name = ALIASES.get(name, name)
        if name not in COMMANDS:
            return None
        module, attribute = COMMANDS[name][0].split(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in sorted(COMMANDS.items())])


def tell_version(ctx: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    """The version, and which decoder is in use."""
    if not wanted or ctx.resilient_parsing:
        return
    from gribmill.kernel.native import state

    click.echo(f"gribmill, version {__version__} (kernel: {state()})")
    ctx.exit()


@click.group(cls=Nouns, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--data", type=NamedPath(file_okay=False, path_type=Path), help="The data root (jobs.db, grib/, tiles/).")
@click.option("--config", "config_file", type=NamedPath(dir_okay=False, path_type=Path), help="The settings file.")
@click.option("--log-json", is_flag=True, default=None, help="Log JSON lines instead of lines for people.")
@click.option(
    "--log-level", type=click.Choice(["debug", "info", "warning", "error"]), help="Least severity that is logged."
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=tell_version, help="Show the version."
)
@click.pass_context
def cli(
    ctx: click.Context,
    data: Path | None,
    config_file: Path | None,
    log_json: bool | None,
    log_level: str | None,
) -> None:
    """Grinds NOAA and ECMWF GRIB into small per-region NPZ tiles, run after run.

    Settings come from gribmill.toml, GRIBMILL_* variables and the options here, the
    latter winning. `gribmill config show` tells what is in force and why.
    """
    if ctx.invoked_subcommand in WITHOUT_SETTINGS:
        return

    from gribmill.logs import set_up_logging

    flags = {"data": data, "log.format": "json" if log_json else None, "log.level": log_level}
    invocation = Invocation(config_file, {key: value for key, value in flags.items() if value is not None})
    ctx.meta[Invocation.META_KEY] = invocation
    ctx.obj, _ = invocation.settings()
    set_up_logging(ctx.obj.log)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; a GribmillError becomes one line on stderr and exit code 1."""
    if sys.stdout is None:
        # Closed by the caller (>&-). Its number must not go to a database that is opened next.
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    try:
        cli.main(arguments, prog_name="gribmill")
    except GribmillError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(1)
    except OSError as error:
        # Whoever writes a file says in a sentence which one: without a name, it is what is printed.
        if error.errno not in OUTPUT_FAULTS or error.filename is not None:
            raise
        click.echo(f"error: the output cannot be written: {error.strerror}", err=True)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # What is left over must not fail once more at the end.
        sys.exit(1)


if __name__ == "__main__":
    main()
