"""gribmill.toml: which file is in use, and its contents before any setting is checked."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

from gribmill.errors import GribmillError

CONFIG_NAME = "gribmill.toml"
CONFIG_LIMIT_BYTES = 1_000_000


class SettingsError(GribmillError):
    """A setting that cannot be used; the message names its key."""


def find_config(config_file: Path | None = None) -> Path | None:
    """The settings file in use: the one given, else GRIBMILL_CONFIG, else gribmill.toml in the working directory."""
    named = config_file or (Path(os.environ["GRIBMILL_CONFIG"]) if os.environ.get("GRIBMILL_CONFIG") else None)
    if named is not None:
        if not named.is_file():
            raise SettingsError(f"there is no settings file {named}; `gribmill init` writes one")
        return named
    local = Path(CONFIG_NAME)
    return local if local.is_file() else None


def read_config(path: Path) -> dict[str, Any]:
    """The contents of a settings file."""
    try:
        with path.open("rb") as file:
            data = file.read(CONFIG_LIMIT_BYTES + 1)
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}") from None
    if len(data) > CONFIG_LIMIT_BYTES:
        raise SettingsError(f"{path} is larger than {CONFIG_LIMIT_BYTES} bytes, too large for a settings file")
    try:
        return tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} is not valid TOML: {error}") from None


def beside(path: Path, named: str) -> Path:
    """A path that the settings file names. It is relative to that file, wherever gribmill was started."""
    return path.absolute().parent / Path(named).expanduser()


def check_path(path: object) -> object:
    """Refuse a path that no file system can hold, and an empty one, which would mean the working directory."""
    if "\0" in str(path):
        raise ValueError("a path cannot contain a NUL character")
    if path == "":
        raise ValueError("the path is empty; omit it or give a path")
    return path
