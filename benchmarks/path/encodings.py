"""Size and CPU of each encoding against numpy.savez_compressed, on made fields and on real ones."""

from __future__ import annotations

import io
import statistics
import time
from collections.abc import Callable
from operator import truediv
from typing import Any

import numpy as np

from benchmarks.hours import tile_hours
from gribmill.regions.region import load_regions
from gribmill.regions.window import window
from gribmill.tiles.grib.field import Field, read_fields
from gribmill.tiles.npz import archive, member
from gribmill.tiles.packed import pack

REGIONS = ("ne", "sw", "mid_atlantic")
# What the processor's clock tells in steps of is far less than the first. The second is how long at least it goes on,
# round after round, so that what else the machine does hardly matters.
LEAST_SECONDS = 0.02
LEAST_OF_ALL = 4.0
# (array, the source's packing): what a tile's writer is given.
Parts = list[tuple[np.ndarray[Any, Any], Any]]


def measure(rounds: int) -> dict[str, dict[str, dict[str, float]]]:
    """By file and encoding: `cpu` and `size` as parts of savez_compressed's."""
    return {hour.title: _compare(_tiles(list(read_fields(hour.path))), rounds) for hour in tile_hours()}


def _tiles(fields: list[Field]) -> list[Parts]:
    known = load_regions()
    tiles: list[Parts] = [[] for _ in REGIONS]
    for field in fields:
        windows = [window(field.grid, known[name].box) for name in REGIONS]
        for tile, values in zip(tiles, field.cut([found for found in windows if found is not None]), strict=True):
            tile.append((values, field.packing))
    return tiles


def _compare(tiles: list[Parts], rounds: int) -> dict[str, dict[str, float]]:
    ways: dict[str, Callable[[Parts], int]] = {
        "savez_compressed": _savez, "fast": _plain("fast"), "compact": _plain("compact"), "packed": _packed,
    }  # fmt: skip
    cpu: dict[str, list[float]] = {name: [] for name in ways}
    sizes: dict[str, int] = {}
    end = time.monotonic() + LEAST_OF_ALL
    while len(cpu["savez_compressed"]) < rounds or time.monotonic() < end:
        for name, write in ways.items():
            sizes[name], spent = _timed(write, tiles)
            cpu[name].append(spent)
    return {
        name: {
            # Of writes that lie next to each other: what the machine does changes within a minute.
            "cpu": round(statistics.median(map(truediv, cpu[name], cpu["savez_compressed"])), 4),
            "size": round(sizes[name] / sizes["savez_compressed"], 4),
            "cpu_s": round(statistics.median(cpu[name]), 6),
        }
        for name in ways
    }


def _timed(write: Callable[[Parts], int], tiles: list[Parts]) -> tuple[int, float]:
    """Bytes and CPU seconds of writing all tiles once; small ones are written as often as the clock can tell."""
    start, count, spent = time.process_time(), 0, 0.0
    while spent < LEAST_SECONDS:
        size = sum(map(write, tiles))
        count += 1
        spent = time.process_time() - start
    return size, spent / count


def _savez(parts: Parts) -> int:
    file = io.BytesIO()
    np.savez_compressed(file, **{f"v{number}": array for number, (array, _) in enumerate(parts)})
    return file.tell()


def _plain(encoding: Any) -> Callable[[Parts], int]:
    def write(parts: Parts) -> int:
        members = [member(f"v{number}", array, encoding) for number, (array, _) in enumerate(parts)]
        return sum(map(len, archive(members)))

    return write


def _packed(parts: Parts) -> int:
    found = [(pack(array, packing) or (array, None))[0] for array, packing in parts]
    return sum(map(len, archive([member(f"v{number}", array) for number, array in enumerate(found)])))
