"""The data root for library functions and settings, with their locations of tiles and spool."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from gribmill.config_file import data_root, find_config, read_config
from gribmill.storage.bucket import StoreOptions
from gribmill.storage.layout import DataRoot
from gribmill.storage.object_path import ObjectPath, is_url, object_path

if TYPE_CHECKING:
    from gribmill.settings.schema import Settings


def open_root(data: str | Path | None = None) -> DataRoot:
    """The data root to read from: a folder, or the URL of a prefix with tiles; by default that of the settings."""
    if isinstance(data, str) and is_url(data):
        return DataRoot(data_root(), object_path(data))
    if data is not None:
        return DataRoot(data_root(data))
    path = find_config()
    named = os.environ.get("GRIBMILL_TILES") or (read_config(path).get("tiles") if path else None)
    return DataRoot(data_root(), object_path(named) if isinstance(named, str) and named else None)


def root_of(settings: Settings) -> DataRoot:
    """The data root of these settings."""
    return DataRoot(settings.data_root, _place(settings.tiles, settings), _place(settings.spool, settings))


def _place(url: str | None, settings: Settings) -> ObjectPath | None:
    return object_path(url, StoreOptions(**settings.store.model_dump())) if url else None
