"""`gribmill init`: write a settings file to start from."""

from __future__ import annotations

from pathlib import Path

import click

from gribmill.config_file import CONFIG_NAME, default_data_root
from gribmill.errors import GribmillError
from gribmill.settings.toml_file import settings_file


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path), default=CONFIG_NAME, metavar="[FILE]")
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
def init(file: Path, force: bool) -> None:
    """Write a commented settings file (gribmill.toml) with every setting at its default."""
    if not file.parent.is_dir():
        raise GribmillError(f"there is no folder {file.parent} for the settings file")
    try:
        # "x" never replaces a file, not even one created a moment ago.
        with file.open("w" if force else "x", encoding="utf-8") as out:
            out.write(settings_file())
    except FileExistsError:
        raise GribmillError(f"{file} exists already; --force replaces it") from None
    except OSError as error:
        raise GribmillError(f"cannot write {file}: {error.strerror or error}") from None
    click.echo(f"wrote {file}; data goes to {default_data_root()} unless the file sets `data`")
