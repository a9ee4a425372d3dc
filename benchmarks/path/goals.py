"""The goals and the results, from the figures of all pages."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.path.plot import line, straightness

STRAIGHT = 0.98


@dataclass(frozen=True, slots=True)
class Goal:
    """One row of the table; `met` is None if there is no figure."""

    what: str
    goal: str
    here: str
    met: bool | None

    def __str__(self) -> str:
        verdict = {True: "met", False: "**missed**", None: "no figure; the other page says why"}[self.met]
        return f"| {self.what} | {self.goal} | {self.here} | {verdict} |"


def goals(figures: dict[str, Any], folder: Path) -> list[Goal]:
    """Decoding and tiles are in separate files in `folder`; everything else is in `figures`."""
    found = [*_decode(_read(folder / "decode.json")), *_tiles(_read(folder / "tiles.json"))]
    found += [*_encodings(figures["encodings"]), *_growth(figures["growth"])]
    for model in figures["job"].values():
        peak = model["cpu"]["peak_mb"]
        found.append(
            Goal(f"peak memory of a build worker, {model['title']}", "≤ 150 MB", f"{peak:.0f} MB", peak <= 150)
        )
    read = figures["reading"]
    what = f"`point`, {read['hours']} hours × {read['columns']} variables, warm"
    found.append(_most(what, read["cpu_ms"]["point"], 50, "ms"))
    found.append(_most("cold start of a worker to first claim", figures["cold_start"]["worker_cpu_s"], 0.5, "s"))
    return found


def _most(what: str, value: float, most: float, unit: str) -> Goal:
    return Goal(what, f"≤ {most:g} {unit} of CPU", f"{value:.3g} {unit}", value <= most)


def _part(what: str, other: dict[str, Any] | None, part: float) -> Goal:
    """A goal: at most 1/`part` of the CPU of another program, which is None if it failed."""
    goal = f"≤ 1/{part:g}" if part > 1 else "ahead"
    if other is None:
        return Goal(what, goal, "–", None)
    return Goal(what, goal, f"1/{other['times_gribmill']:.1f}", other["times_gribmill"] >= part)


def _decode(cells: dict[str, Any]) -> list[Goal]:
    found = []
    for key, title, peer, part in (
        ("hrrr53", "12 made HRRR messages (5.3)", "eccodes", 8),
        ("hrrr53", "12 made HRRR messages (5.3)", "cfgrib", 30),
        ("hrrr53", "12 made HRRR messages (5.3)", "wgrib2", 1),
        ("hrrr53", "12 made HRRR messages (5.3)", "grib2io", 1),
        ("hrrr-real", "real HRRR messages", "eccodes", 5),
        ("gfs-real", "real GFS messages", "eccodes", 5),
        ("ifs", "12 made IFS messages (CCSDS)", "eccodes", 3),
        ("ifs-real", "real ECMWF messages (CCSDS)", "eccodes", 3),
    ):
        if key in cells.get("gribmill", {}):
            found.append(_part(f"decode {title}, against {peer}", cells.get(peer, {}).get(key), part))
    return found


def _tiles(hours: dict[str, Any]) -> list[Goal]:
    found = []
    for key, title in (("hrrr", "12 made messages × 8 regions"), ("hrrr-real", "11 real messages × 8 regions")):
        ways = hours.get(key, {})
        if not ways:
            continue
        for script, peer, part in (
            ("cfgrib_per_region", "cfgrib + xarray + savez_compressed per region", 60),
            ("eccodes_by_hand", "ecCodes once + savez_compressed", 12),
            ("eccodes_isal", "ecCodes once + ISA-L", 2.5),
        ):
            found.append(_part(f"HRRR, {title}, against {peer}", ways.get(script), part))
        found.append(_floor(f"HRRR, {title}, against the floor", ways.get("floor")))
    return found


def _floor(what: str, floor: dict[str, Any] | None) -> Goal:
    if floor is None:
        return Goal(what, "≤ 5 ×", "–", None)
    above = 1 / floor["times_gribmill"]
    return Goal(what, "≤ 5 ×", f"{above:.1f} ×", above <= 5)


def _growth(counts: dict[str, dict[str, float]]) -> list[Goal]:
    """Each further one costs the same."""
    found = []
    for kind, one in (("regions", "region"), ("variables", "variable")):
        points = {int(count): spent for count, spent in counts[kind].items()}
        _, slope = line(points)
        straight = straightness(points)
        what = f"one more {one}, {min(points)} to {max(points)}"
        found.append(Goal(what, "linear", f"{1000 * slope:.2f} ms each, r² {straight:.3f}", straight >= STRAIGHT))
    return found


def _encodings(kinds: dict[str, Any]) -> list[Goal]:
    found = []
    for encoding, size, part in (("fast", 1.2, 15), ("compact", 1.0, 3.5), ("packed", 0.8, 10)):
        for kind, each in kinds.items():
            is_size, is_cpu = each[encoding]["size"], 1 / each[encoding]["cpu"]
            met = is_size <= size and is_cpu >= part
            reached = f"{is_size:.2f} × at 1/{is_cpu:.1f}"
            found.append(Goal(f"`{encoding}`, {kind}", f"≤ {size:.1f} × size at ≤ 1/{part:g} CPU", reached, met))
    return found


def _read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text()) if path.is_file() else {}
    return found
