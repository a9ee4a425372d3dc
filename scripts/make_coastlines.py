"""Makes gribmill/tiles/draw/coastlines.npz: coasts, country borders, US states and the Great Lakes' US shore.

Origin: Natural Earth 4.1, 1:10m countries (public domain), as packed in the npm package `world-atlas`, and
the US Census Bureau's cartographic boundary files of 2017 (public domain), as packed in `us-atlas`
(both packages: ISC licence, Copyright 2013-2019 Michael Bostock). Simplified to about one kilometre.

Run `python scripts/make_coastlines.py` (needs npm), or with `--atlas DIR` for a folder that already holds
`world-atlas/` and `us-atlas/`. The same input gives the same bytes.
"""

from __future__ import annotations

import argparse
import io
import json
import subprocess
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Line = NDArray[np.float64]  # (points, 2): longitude, latitude in degrees

OUT = Path(__file__).parents[1] / "gribmill" / "draw" / "map" / "coastlines.npz"
PACKAGES = ("world-atlas@2.0.2", "us-atlas@3.0.1")
QUANTUM_DEG = 0.004  # 450 m: below a pixel of any map that the simplified lines are good for
TOLERANCE_DEG = 0.01  # 1.1 km: a third of an HRRR cell
SMALLEST_DEG = 0.04  # islands below 4 km would only be specks
LAKES_BOX = (-93.0, 41.0, -76.0, 49.0)  # the Great Lakes
LAKE_BORDER_DEG = 0.06  # a state's outer line nearer than this to the coast or the border repeats it


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--atlas", type=Path, help="folder with world-atlas/ and us-atlas/ (else npm fetches them)")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    if options.atlas:
        lines = read_atlas(options.atlas)
    else:
        with tempfile.TemporaryDirectory() as folder:
            npm = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"]
            subprocess.run([*npm, "--prefix", folder, *PACKAGES], check=True)
            lines = read_atlas(Path(folder) / "node_modules")
    options.out.write_bytes(archive(lines))


def read_atlas(folder: Path) -> dict[str, list[Line]]:
    """The four kinds of line, simplified, each in a fixed order."""
    world, arcs = topology(folder / "world-atlas" / "countries-10m.json")
    land = [joined(ring, arcs) for ring in rings(world["objects"]["land"])]
    borders = [arcs[i] for i in shared(world["objects"]["countries"])]
    states, state_arcs = topology(folder / "us-atlas" / "states-10m.json")
    inner = set(shared(states["objects"]["states"]))
    outer = [arc for i, arc in enumerate(state_arcs) if i not in inner]
    return {
        "land": [ring for ring in land if len(ring) > 3 and np.ptp(ring, axis=0).max() >= SMALLEST_DEG],
        "borders": borders,
        "states": [state_arcs[i] for i in sorted(inner)],
        "lakes": lake_shores(outer, np.concatenate(land + borders)),
    }


def topology(path: Path) -> tuple[dict[str, Any], list[Line]]:
    """A TopoJSON file and its arcs in degrees, each simplified on its own so that shared ends stay shared."""
    document = json.loads(path.read_text())
    scale, translate = document["transform"]["scale"], document["transform"]["translate"]
    arcs = (np.cumsum(np.array(arc, dtype=np.float64), axis=0) * scale + translate for arc in document["arcs"])
    return document, [simplified(arc) for arc in arcs]


def rings(geometry: dict[str, Any]) -> Iterator[list[int]]:
    """Every ring below a TopoJSON geometry, as arc numbers (~n: arc n backwards)."""
    for inner in geometry.get("geometries", ()):
        yield from rings(inner)
    if geometry["type"] == "Polygon":
        yield from geometry["arcs"]
    elif geometry["type"] == "MultiPolygon":
        for polygon in geometry["arcs"]:
            yield from polygon


def joined(ring: list[int], arcs: list[Line]) -> Line:
    pieces = [arcs[n] if n >= 0 else arcs[~n][::-1] for n in ring]
    return np.concatenate([pieces[0], *(piece[1:] for piece in pieces[1:])])


def shared(geometry: dict[str, Any]) -> list[int]:
    """The arcs that two neighbours have in common."""
    uses = Counter(n if n >= 0 else ~n for ring in rings(geometry) for n in ring)
    return sorted(n for n, count in uses.items() if count > 1)


def simplified(line: Line) -> Line:
    """Douglas and Peucker's thinning, on a plane with its longitudes shrunk to scale."""
    flat = line * [np.cos(np.radians(line[:, 1].mean())), 1.0]
    keep = np.zeros(len(line), dtype=bool)
    keep[[0, -1]] = True
    spans = [(0, len(line) - 1)]
    while spans:
        first, last = spans.pop()
        if last - first < 2:
            continue
        offsets = distances(flat[first + 1 : last], flat[first], flat[last])
        far = int(offsets.argmax())
        if offsets[far] > TOLERANCE_DEG:
            middle = first + 1 + far
            keep[middle] = True
            spans += [(first, middle), (middle, last)]
    return line[keep]


def distances(points: Line, start: Line, end: Line) -> NDArray[np.float64]:
    """How far each point lies from the straight piece start–end."""
    along = end - start
    length2 = float(along @ along)
    share = np.clip((points - start) @ along / length2, 0, 1) if length2 else np.zeros(len(points))
    x, y = (points - start - share[:, None] * along).T
    return np.asarray(np.hypot(x, y))


def lake_shores(outer: list[Line], known: Line) -> list[Line]:
    """The parts of the states' outer lines that are neither sea coast nor border: the shores of the lakes."""
    west, south, east, north = LAKES_BOX
    box = (known[:, 0] > west) & (known[:, 0] < east) & (known[:, 1] > south) & (known[:, 1] < north)
    near = known[box]
    shores = []
    for line in outer:
        inside = (line[:, 0] > west) & (line[:, 0] < east) & (line[:, 1] > south) & (line[:, 1] < north)
        fresh = np.array([ok and far_from(point, near) for ok, point in zip(inside, line, strict=True)])
        for piece in np.split(np.arange(len(line)), np.flatnonzero(np.diff(fresh)) + 1):
            if fresh[piece[0]] and len(piece) > 1:
                shores.append(line[piece])
    return shores


def far_from(point: Line, vertices: Line) -> bool:
    return not len(vertices) or float(np.hypot(*(vertices - point).T).min()) > LAKE_BORDER_DEG


def archive(lines: dict[str, list[Line]]) -> bytes:
    """A plain `.npz`: per kind where each line starts, its count of points, and its steps as byte planes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as npz:
        write(npz, "quantum_deg", np.float64(QUANTUM_DEG))
        for kind, members in lines.items():
            whole = [quantised(line) for line in members]
            whole = [line for line in whole if len(line) > 1]
            write(npz, f"{kind}_start", np.array([line[0] for line in whole], dtype="<i4"))
            write(npz, f"{kind}_count", np.array([len(line) for line in whole], dtype="<i4"))
            write(npz, f"{kind}_step", planes(np.concatenate([np.diff(line, axis=0) for line in whole])))
    return out.getvalue()


def quantised(line: Line) -> NDArray[np.int64]:
    whole = np.rint(line / QUANTUM_DEG).astype(np.int64)
    moved = np.concatenate([[True], (np.diff(whole, axis=0) != 0).any(axis=1)])
    return np.asarray(whole[moved])


def planes(steps: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Steps with the sign in the lowest bit, low bytes apart from high ones: half the size once deflated."""
    folded = ((steps << 1) ^ (steps >> 63)).astype("<u4")
    return np.ascontiguousarray(folded.view(np.uint8).reshape(len(steps), 8).T[[0, 1, 2, 4, 5, 6]])


def write(npz: zipfile.ZipFile, name: str, array: NDArray[Any] | np.float64) -> None:
    member = io.BytesIO()
    np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)
    # A ZipInfo of its own: its date is fixed at 1980, so that the same lines give the same bytes.
    npz.writestr(zipfile.ZipInfo(f"{name}.npy"), member.getvalue(), zipfile.ZIP_DEFLATED, compresslevel=9)


if __name__ == "__main__":
    main()
