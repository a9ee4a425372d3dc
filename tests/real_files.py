"""Real GRIB and index files, kept outside the repository; tests skip where the folder is absent."""

from __future__ import annotations

from pathlib import Path

import pytest

REAL_GRIB = Path(__file__).parents[2] / "shared" / "grib"


def real(name: str) -> Path:
    """The path of a real file such as `noaa/hrrr….grib2`; skips the test if it is missing."""
    path = REAL_GRIB / name
    if not path.is_file():
        pytest.skip(f"the collection of real files is not beside this checkout ({name} wanted)")
    return path


def real_files(pattern: str) -> list[Path]:
    """Every real file that matches, sorted; empty where the collection is absent."""
    return sorted(REAL_GRIB.glob(pattern))
