"""Where the downloaded messages of an hour wait for their tiles."""

from __future__ import annotations

import contextlib
from pathlib import Path


def spool_path(data: Path, model_id: str, run_id: str, hour: int) -> Path:
    """grib/{model}/{run}/{hour}.grib2 of the data root."""
    return data / "grib" / model_id / run_id / f"{hour:03d}.grib2"


def remove_spool(path: Path) -> None:
    """Remove the file, and the folders that are empty then."""
    path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # not empty: other hours wait there
        path.parent.rmdir()
        path.parent.parent.rmdir()
