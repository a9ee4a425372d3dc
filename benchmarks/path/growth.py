"""What one more region costs, and one more variable: CPU of a build from 1 to 64 regions and 1 to 100 variables."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import eccodes

from benchmarks.hours import made
from gribmill.regions.box import Box
from gribmill.regions.region import Region
from gribmill.tiles.build import build
from tests.make_grib import make_message

REGION_COUNTS = (1, 2, 4, 8, 16, 32, 64)
VARIABLE_COUNTS = (1, 3, 10, 30, 60, 100)
ISOBARIC = {"typeOfFirstFixedSurface": 100}


def measure(rounds: int) -> dict[str, dict[int, float]]:
    """Least CPU seconds of several builds, by count; the first, which fills the caches, is not counted."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        regions = {count: _cpu(made("hrrr"), boxes()[:count], home / "r", rounds) for count in REGION_COUNTS}
        variables = {}
        for count in VARIABLE_COUNTS:
            path = home / f"{count}.grib2"
            path.write_bytes(b"".join(_levels(count)))
            variables[count] = _cpu(path, boxes()[:8], home / "v", rounds)
    return {"regions": regions, "variables": variables}


def _cpu(path: Path, regions: list[Region], data: Path, rounds: int) -> float:
    spent = []
    for _ in range(rounds + 1):
        start = time.process_time()
        outcome = build(path, regions, data, model="hrrr", everything=True)
        spent.append(time.process_time() - start)
        assert len(outcome.tiles) == len(regions), outcome.failed
    return round(min(spent[1:]), 4)


def boxes() -> list[Region]:
    """64 boxes of the same size, 4° × 2.5°, all over the middle of the HRRR grid."""
    return [
        Region(f"box-{row}-{column}", Box(-115 + 4.4 * column, 28 + 2.2 * row, -111 + 4.4 * column, 30.5 + 2.2 * row))
        for row in range(8)
        for column in range(8)
    ]


def _levels(count: int) -> list[bytes]:
    """One temperature field under many pressure levels: as many variables, packed once."""
    handle = eccodes.codes_new_from_message(make_message("hrrr", "2t", decimal=1, keys=ISOBARIC))
    messages = []
    for number in range(count):
        eccodes.codes_set(handle, "level", 1000 - 5 * number)
        messages.append(eccodes.codes_get_message(handle))
    eccodes.codes_release(handle)
    return messages
