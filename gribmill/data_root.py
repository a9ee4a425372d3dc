"""Finds the data root, also for library functions, which read no other setting."""

from __future__ import annotations

import os
from pathlib import Path

from gribmill.config_file import SettingsError, beside, check_path, expand_user, find_config, read_config
from gribmill.errors import quoted


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
