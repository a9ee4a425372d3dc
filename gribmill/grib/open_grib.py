"""Opens any GRIB file as xarray datasets, using cfgrib."""

from __future__ import annotations

import os

# Before ecCodes: its wheel contains an old SQLite, which Python would use if sqlite3 were imported later.
import sqlite3  # noqa: F401
from pathlib import Path
from typing import Any

import xarray as xr

from gribmill.grib.decode.field import read_fields
from gribmill.grib.errors import GribError


def open_grib(path: str | os.PathLike[str], **filter_by_keys: Any) -> list[xr.Dataset]:
    """All fields of a GRIB file as cfgrib reads them: one dataset per type of level or grid.

    Keys select fields: `open_grib(path, typeOfLevel="heightAboveGround", level=2)`. Winds are not rotated. Raises
    GribError for a damaged file, from which cfgrib would leave out messages.
    """
    import cfgrib

    if not Path(path).is_file():
        raise GribError(f"{path}: no such file")
    # cfgrib trusts every octet, and may crash.
    for field in read_fields(Path(path)):
        field.check()
    # No index file: cfgrib would write one beside the GRIB file, and still trust it after the GRIB file changed.
    options = {"indexpath": "", "filter_by_keys": filter_by_keys}
    try:
        found: list[xr.Dataset] = cfgrib.open_datasets(str(path), backend_kwargs=options)
    except Exception as error:  # noqa: BLE001 — cfgrib has no class for its errors, and passes on those of ecCodes
        raise GribError(f"{path}: cfgrib cannot open it: {error}") from None
    if not found:
        raise GribError(f"{path}: no field matches {filter_by_keys}")
    return found
