"""`gribmill init` and `gribmill config`: the settings."""

from __future__ import annotations

from pathlib import Path

import click

from gribmill.cli.invocation import Invocation
from gribmill.cli.output import print_json, print_table
from gribmill.config_file import CONFIG_NAME
from gribmill.errors import GribmillError
from gribmill.views.setting import SettingView


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path), default=CONFIG_NAME, metavar="[FILE]")
@click.option("--force", is_flag=True, help="Replace FILE when it is there already.")
def init(file: Path, force: bool) -> None:
    """Write a commented settings file with every setting at its default (gribmill.toml)."""
    from gribmill.settings.toml_file import settings_file

    if not file.parent.is_dir():
        raise GribmillError(f"there is no folder {file.parent} for the settings file")
    try:
        # "x": a file that appears at this very moment is not replaced either.
        with file.open("w" if force else "x", encoding="utf-8") as out:
            out.write(settings_file())
    except FileExistsError:
        raise GribmillError(f"{file} is there already; --force replaces it") from None
    except OSError as error:
        raise GribmillError(f"{file} cannot be written: {error.strerror or error}") from None
    click.echo(f"wrote {file}")


@click.group()
def config() -> None:
    """The settings in force, and where each came from."""


@config.command()
@click.option("--json", "as_json", is_flag=True, help="As JSON, with descriptions.")
@click.pass_context
def show(ctx: click.Context, as_json: bool) -> None:
    """Every setting, its value, and where that came from: a file, a variable, a flag, or the default."""
    from gribmill.settings.toml_file import toml_value

    invocation: Invocation = ctx.meta[Invocation.META_KEY]
    _, origins = invocation.settings()
    if as_json:
        print_json([SettingView.of(one) for one in origins])
        return
    rows = [[one.key, "not set" if one.value is None else toml_value(one.value), one.source] for one in origins]
    print_table(["setting", "value", "from"], rows)
