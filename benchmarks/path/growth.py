"""What one more region costs, and one more variable: CPU of a build from 1 to 64 regions and 1 to 100 variables."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

import eccodes

from benchmarks.hours import made
from gribmill.regions.box import Box
from gribmill.regions.region import Region
from gribmill.tiles.build.build import build
from tests.make_grib import make_message

REGION_COUNTS = (1, 2, 4, 8, 16, 24, 32, 48, 64)
VARIABLE_COUNTS = (1, 5, 10, 20, 40, 60, 80, 100)
ISOBARIC = {"typeOfFirstFixedSurface": 100}
# A round takes a second or two, in which the machine's speed may change: only many rounds show a line.
BUILDS_PER_ROUND = 5


def measure(rounds: int) -> dict[str, dict[int, float]]:
    """Median CPU seconds of several builds, by count; the first, which fills the caches, is not counted."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        files = {count: home / f"{count}.grib2" for count in VARIABLE_COUNTS}
        for count, path in files.items():
            path.write_bytes(b"".join(_levels(count)))
        regions: dict[int, list[float]] = {count: [] for count in REGION_COUNTS}
        variables: dict[int, list[float]] = {count: [] for count in VARIABLE_COUNTS}
        for _ in range(BUILDS_PER_ROUND * rounds + 1):
            for count, spent in regions.items():
                spent.append(_cpu(made("hrrr"), boxes()[:count], home / "r"))
            for count, spent in variables.items():
                spent.append(_cpu(files[count], boxes()[:8], home / "v"))
    return {"regions": _medians(regions), "variables": _medians(variables)}


def _cpu(path: Path, regions: list[Region], data: Path) -> float:
    start = time.process_time()
    outcome = build(path, regions, data, model="hrrr", everything=True)
    spent = time.process_time() - start
    assert len(outcome.tiles) == len(regions), outcome.failed
    return spent


def _medians(times: dict[int, list[float]]) -> dict[int, float]:
    return {count: round(statistics.median(spent[1:]), 5) for count, spent in times.items()}


def boxes() -> list[Region]:
    """64 boxes of 4° × 2.5°, spread over the middle of the HRRR grid."""
    return [
        Region(f"box-{row}-{column}", Box(-115 + 4.4 * column, 28 + 2.2 * row, -111 + 4.4 * column, 30.5 + 2.2 * row))
        for row in range(8)
        for column in range(8)
    ]


def _levels(count: int) -> list[bytes]:
    """One temperature field, packed once, at many pressure levels: each is a variable."""
    handle = eccodes.codes_new_from_message(make_message("hrrr", "2t", decimal=1, keys=ISOBARIC))
    messages = []
    for number in range(count):
        eccodes.codes_set(handle, "level", 1000 - 5 * number)
        messages.append(eccodes.codes_get_message(handle))
    eccodes.codes_release(handle)
    return messages
