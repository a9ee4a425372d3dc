"""Size and CPU of each encoding relative to numpy.savez_compressed, on generated and real fields."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.hours import tile_hours
from benchmarks.interleaved import compare
from gribmill.grib.decode.field import Field, read_fields
from gribmill.regions.region import load_regions
from gribmill.regions.window import window
from gribmill.tiles.format.npz_writer import encode_member, zip_pieces
from gribmill.tiles.format.requantize import requantize

REGIONS = ("ne", "sw", "mid_atlantic")
# Rounds continue for at least this long, to average out other load on the machine.
LEAST_SECONDS = 4.0
BASE = "savez_compressed"
# (array, the source's packing): the input of a tile's writer.
Parts = list[tuple[np.ndarray[Any, Any], Any]]


def measure(rounds: int) -> dict[str, dict[str, dict[str, float]]]:
    """By file and encoding: `cpu` and `size` relative to savez_compressed."""
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
        BASE: _savez, "fast": _plain("fast"), "compact": _plain("compact"), "packed": _packed,
    }  # fmt: skip
    contenders: dict[str, Callable[[], int]] = {name: partial(_written, write, tiles) for name, write in ways.items()}
    found = compare(contenders, BASE, rounds, LEAST_SECONDS)
    return {
        name: {
            "cpu": round(own.ratio, 4),
            "size": round(own.size / found[BASE].size, 4),
            "cpu_s": round(own.cpu_s, 6),
        }
        for name, own in found.items()
    }


def _written(write: Callable[[Parts], int], tiles: list[Parts]) -> int:
    return sum(map(write, tiles))


def _savez(parts: Parts) -> int:
    file = io.BytesIO()
    arrays: dict[str, Any] = {f"v{number}": array for number, (array, _) in enumerate(parts)}
    np.savez_compressed(file, **arrays)
    return file.tell()


def _plain(encoding: Any) -> Callable[[Parts], int]:
    def write(parts: Parts) -> int:
        members = [encode_member(f"v{number}", array, encoding) for number, (array, _) in enumerate(parts)]
        return sum(map(len, zip_pieces(members)))

    return write


def _packed(parts: Parts) -> int:
    found = [(requantize(array, packing) or (array, None))[0] for array, packing in parts]
    return sum(map(len, zip_pieces([encode_member(f"v{number}", array) for number, array in enumerate(found)])))
