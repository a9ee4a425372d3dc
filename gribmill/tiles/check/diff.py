"""Compares two tiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gribmill.checked.table import plain
from gribmill.tiles.read.tile import Tile

# Keys about how the tile was made, which are not compared.
PROVENANCE = {"gribmill", "source"}


@dataclass(frozen=True, slots=True)
class Difference:
    """One variable or metadata key that differs; `why` is a short sentence, the numbers describe the points."""

    name: str
    why: str
    points: int = 0
    largest: float | None = None
    mean: float | None = None


def diff(one: Tile, other: Tile) -> list[Difference]:
    """All differences in grid, metadata and values; empty if the tiles are equal."""
    found = _metadata(one, other)
    if (one.shape, one.regular) != (other.shape, other.regular):
        return [*found, Difference("grid", f"{one.shape} points against {other.shape}")]
    for axis, mine, theirs in (("y", one.y, other.y), ("x", one.x, other.x)):
        if not np.array_equal(mine, theirs):
            found.append(Difference(axis, "other coordinates", largest=float(np.abs(mine - theirs).max())))
    for name in sorted({*one.names, *other.names}):
        if name not in one.names or name not in other.names:
            where = one if name in one.names else other
            found.append(Difference(name, f"only in {where.path}"))
        elif (difference := _values(name, one, other)) is not None:
            found.append(difference)
    return found


def _values(name: str, one: Tile, other: Tile) -> Difference | None:
    mine, theirs = one.read(name), other.read(name)
    missing = np.isnan(mine) != np.isnan(theirs)
    with np.errstate(invalid="ignore"):
        unequal = (mine != theirs) & ~(np.isnan(mine) | np.isnan(theirs))
    points = int(missing.sum() + unequal.sum())
    if not points:
        return None
    if not unequal.any():
        return Difference(name, f"{int(missing.sum())} points missing in one of them", points)
    away = np.abs(mine[unequal].astype(np.float64) - theirs[unequal])
    also = f", {int(missing.sum())} of them missing in one" if missing.any() else ""
    return Difference(name, f"other values{also}", points, float(away.max()), float(away.mean()))


def _metadata(one: Tile, other: Tile) -> list[Difference]:
    mine, theirs = (plain(tile.meta) for tile in (one, other))
    keys = sorted(mine.keys() - PROVENANCE - {"variables", "grid"})
    found = [
        Difference(key, f"{_short(mine[key])} against {_short(theirs[key])}")
        for key in keys
        if mine[key] != theirs[key]
    ]
    for name in sorted(mine["variables"].keys() & theirs["variables"].keys()):
        for key in ("units", "level", "step_minutes", "statistic", "winds"):
            a, b = mine["variables"][name][key], theirs["variables"][name][key]
            if a != b:
                found.append(Difference(name, f"{key} {_short(a)} against {_short(b)}"))
    return found


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
