"""Finds gribmill.toml and the data root, before any setting is checked: all that library functions need of settings."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from gribmill.errors import GribmillError, control_character, quoted
from gribmill.toml_table import read_toml

CONFIG_NAME = "gribmill.toml"
CONFIG_LIMIT_BYTES = 1_000_000
# Of every common file system.
NAME_LIMIT_BYTES = 255


class SettingsError(GribmillError):
    """A setting is not valid; the message names its key."""


def find_config(config_file: Path | None = None) -> Path | None:
    """The settings file in use: the one given, else GRIBMILL_CONFIG, else gribmill.toml in the working directory."""
    named = config_file or (Path(os.environ["GRIBMILL_CONFIG"]) if os.environ.get("GRIBMILL_CONFIG") else None)
    if named is not None:
        if not named.is_file():
            if named.exists():
                raise SettingsError(f"{named} is not a regular file, so it cannot be the settings file")
            raise SettingsError(f"there is no settings file {named}; `gribmill init` writes one")
        return named
    local = Path(CONFIG_NAME)
    return local if local.is_file() else None


def read_config(path: Path) -> dict[str, Any]:
    """The contents of a settings file."""
    return read_toml(path, CONFIG_LIMIT_BYTES, SettingsError, "a settings file")


def beside(path: Path, named: str) -> Path:
    """A path in the settings file, which is relative to that file and not to the working directory."""
    return path.absolute().parent / expand_user(Path(named))


def expand_user(path: Path) -> Path:
    """The path with a leading `~` or `~name` replaced by the home folder."""
    try:
        return path.expanduser()
    except RuntimeError:  # pathlib's own error
        raise SettingsError(
            f"{quoted(str(path))}: there is no home folder for {quoted(path.parts[0])}; write ./ before it for a folder"
            " of that name"
        ) from None


def check_path(path: object) -> object:
    """Reject paths that no file system supports, and an empty one, which would mean the working directory."""
    if "\0" in str(path):
        raise ValueError("a path cannot contain a NUL character")
    if path == "":
        raise ValueError("the path is empty; omit it or give a path")
    if isinstance(path, str | Path):
        if control_character(str(path)):
            raise ValueError("a path with control characters is not accepted")
        if any(len(os.fsencode(part)) > NAME_LIMIT_BYTES for part in Path(path).parts):
            raise ValueError(f"a name in the path is longer than {NAME_LIMIT_BYTES} bytes")
        try:
            expand_user(Path(path))
        except SettingsError as error:
            raise ValueError(str(error)) from None
    return path


def data_root(data: str | Path | None = None) -> Path:
    """The data root: the one given, else GRIBMILL_DATA, else `data` of the settings file, else the default."""
    if data is not None:
        return expand_user(Path(data))
    if named := os.environ.get("GRIBMILL_DATA"):
        return expand_user(Path(named)).absolute()
    return _from_file() or default_data_root().absolute()


def default_data_root() -> Path:
    """`data/` in the checkout that gribmill runs from, else the user's data folder."""
    checkout = Path(__file__).resolve().parents[1]
    if (checkout / "pyproject.toml").is_file() and (checkout / "data").is_dir():
        return checkout / "data"
    base = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return expand_user(Path(base)) / "gribmill"


def _from_file() -> Path | None:
    path = find_config()
    named = read_config(path).get("data") if path else None
    if path is None or named is None:
        return None
    try:
        if not isinstance(named, str):
            raise ValueError("a path is a string")
        check_path(named)
    except ValueError as error:
        raise SettingsError(f"data = {quoted(named)} is invalid (from {path}): {error}") from None
    return beside(path, named)
