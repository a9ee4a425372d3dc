"""`python -m benchmarks.deflate`: the kernel, ISA-L and libdeflate in turn, medians into results/deflate.md."""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import sys
import zlib
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any

from benchmarks.deflate import inflaters
from benchmarks.deflate.deflaters import KIB, Deflater, isal, libdeflate, own, with_statistics
from benchmarks.deflate.tile_arrays import Array, TileArrays, hours, tile_arrays
from benchmarks.interleaved import Figures, compare
from benchmarks.machine import machine_lines
from benchmarks.results_folder import command, results_folder
from gribmill.kernel.native import state
from gribmill.tiles.format.npz_writer import npy_header

OWN = "**gribmill**"
FAST: dict[str, Deflater] = {
    OWN: own(),
    "ISA-L 1, restart every 64 KiB": with_statistics(isal(1, 64 * KIB)),
    "ISA-L 2, restart every 64 KiB (the fallback)": with_statistics(isal(2, 64 * KIB)),
    "ISA-L 2, restart every 16 KiB": with_statistics(isal(2, 16 * KIB)),
    "libdeflate 1, no restart points": with_statistics(libdeflate(1)),
}
PACKED: dict[str, Deflater] = {
    OWN: own(),
    "ISA-L 1, restart every 64 KiB": isal(1, 64 * KIB),
    "ISA-L 2, restart every 64 KiB (the fallback)": isal(2, 64 * KIB),
    "ISA-L 2, restart every 16 KiB": isal(2, 16 * KIB),
    "libdeflate 1, no restart points": libdeflate(1),
}
Table = dict[str, Figures]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15, help="rounds; each contender runs in each")
    parser.add_argument("--quick", action="store_true", help="one round, into results/quick, to check that it runs")
    options = parser.parse_args()
    if state() != "native":
        sys.exit(f"the kernel is {state()}: there is nothing to compare")
    rounds = 1 if options.quick else options.rounds
    lines = machine_lines()
    found: dict[str, dict[str, Table]] = {}
    for hour in hours():
        sys.stderr.write(f"{hour.title} …\n")
        found[hour.title] = measured(tile_arrays(hour), rounds)
    text = page(found, [*lines, library_line()], rounds)
    folder = results_folder(quick=options.quick)
    (folder / "deflate.md").write_text(text, encoding="utf-8")
    (folder / "deflate.json").write_text(json.dumps(plain(found), indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(text)


def measured(arrays: TileArrays, rounds: int) -> dict[str, Table]:
    """By title of the table; tables without arrays are left out."""
    tables: dict[str, tuple[list[Array], dict[str, Deflater]]] = {
        "deflate, `fast`": (arrays.floats, FAST),
        "deflate, `packed`": (arrays.integers, PACKED),
    }
    found = {}
    for title, (chosen, deflaters) in tables.items():
        if chosen:
            raw = sum(array.nbytes for array in chosen)
            found[f"{title}: {len(chosen)} arrays, {raw / 1e6:.1f} MB"] = deflated(chosen, deflaters, rounds)
    return found | inflated(arrays.floats, rounds)


def deflated(arrays: list[Array], deflaters: dict[str, Deflater], rounds: int) -> Table:
    """All arrays by each deflater; the first result must inflate to the input."""
    for name, deflater in deflaters.items():
        for array in arrays:
            raw, data = npy_header(array.dtype, array.shape) + array.tobytes(), bytes(deflater(array))
            assert data == raw or zlib.decompress(data, -15) == raw, name
    return compare({name: partial(_size, deflater, arrays) for name, deflater in deflaters.items()}, OWN, rounds)


def _size(deflater: Deflater, arrays: list[Array]) -> int:
    return sum(len(deflater(array)) for array in arrays)


def inflated(arrays: list[Array], rounds: int) -> dict[str, Table]:
    """Arrays with restart points, read whole and at one point each."""
    streams, others = inflaters.by_kernel(arrays), inflaters.by_isal(arrays)
    if not streams:
        return {}
    whole: dict[str, Callable[[], int]] = {
        OWN: partial(inflaters.whole_kernel, streams),
        "ISA-L": partial(inflaters.whole_isal, streams),
        "libdeflate": partial(inflaters.whole_libdeflate, streams),
    }
    points: dict[str, Callable[[], int]] = {
        OWN: partial(inflaters.middle_points, streams, inflaters.points_kernel),
        "ISA-L, the same streams": partial(inflaters.middle_points, streams, inflaters.points_isal),
        "ISA-L, its own blocks of 64 KiB": partial(inflaters.middle_points, others, inflaters.points_isal),
    }
    return {
        f"inflate, {len(streams)} whole arrays": compare(whole, OWN, rounds),
        f"inflate, one point of {len(streams)} arrays": compare(points, OWN, rounds),
    }


def plain(found: dict[str, dict[str, Table]]) -> dict[str, Any]:
    return {
        file: {title: {name: asdict(one) for name, one in table.items()} for title, table in tables.items()}
        for file, tables in found.items()
    }


def library_line() -> str:
    return "- " + ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("isal", "deflate"))


def page(found: dict[str, dict[str, Table]], lines: list[str], rounds: int) -> str:
    parts = []
    for file, tables in found.items():
        parts.append(f"## {file}")
        parts += [f"{title}\n\n{rows(table, sized=title.startswith('deflate'))}" for title, table in tables.items()]
    return PAGE.format(command=command("deflate"), machine="\n".join(lines), rounds=rounds, tables="\n\n".join(parts))


def rows(table: Table, *, sized: bool) -> str:
    """CPU and its ratio to the kernel's, of deflaters also the size."""
    head = ["| | CPU ms | × gribmill |", "|---|---|---|"]
    if sized:
        head = ["| | CPU ms | × gribmill | MB | × gribmill |", "|---|---|---|---|---|"]
    for name, one in table.items():
        size = f" {one.size / 1e6:.3f} | {one.size / table[OWN].size:.3f} |" if sized else ""
        head.append(f"| {name} | {1000 * one.cpu_s:.2f} | {one.ratio:.2f} |{size}")
    return "\n".join(head)


PAGE = """# Deflate and inflate

`{command}` wrote this page.
The kernel's own deflate and inflate beside ISA-L and libdeflate, on the arrays of tiles of eight regions. The rule for
a private implementation: at least 1.3 times better than the library, or it is removed.

{machine}

**How.** One process, one thread. The contenders of a table are interleaved, {rounds} rounds; CPU is user + system time,
medians of all rounds; ratios are medians of the ratios within each round. Every deflater also computes the CRC-32 of
the .npy file and, for float32, the statistics for the tile's metadata: the kernel does both in the same pass, for the
others they are separate calls. The kernel's streams can be read from every 16 KiB, ISA-L's from every full flush,
libdeflate's only from the beginning. Every stream is inflated by zlib once and compared. A point is one value of
every array: the restart point before it is looked up, the bytes up to the next one are inflated and their checksum is
compared. Calls are made from Python, as in production; for small arrays the calls are part of the time.

{tables}
"""


if __name__ == "__main__":
    main()
