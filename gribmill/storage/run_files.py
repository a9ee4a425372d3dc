"""What a run has on the disk, while workers write and remove files there."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

ROOMS = ("grib", "tiles")


def folders_of(data: Path, model_id: str, run_id: str) -> list[Path]:
    """Where its messages and its tiles lie."""
    return [data / room / model_id / run_id for room in ROOMS]


def files_of(data: Path, model_id: str, run_id: str) -> Iterator[os.stat_result]:
    """The facts of each file; one that goes in the meantime is not counted."""
    for folder in folders_of(data, model_id, run_id):
        for place, _, names in os.walk(folder):  # unlike rglob, it bears folders that go
            for name in names:
                with contextlib.suppress(FileNotFoundError):
                    yield Path(place, name).lstat()
