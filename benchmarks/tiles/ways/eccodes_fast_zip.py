"""ecCodes by hand with gribmill's NPZ writer: what is left of the difference when both share the fast deflate."""

from __future__ import annotations

from pathlib import Path

from eccodes_by_hand import decoded
from inside import rectangle
from stopwatch import Boxes, main

from gribmill.tiles.npz import write_npz


def work(path: Path, boxes: Boxes, out: Path) -> None:
    arrays, lat, lon = decoded(path)
    for name, box in boxes.items():
        cut = rectangle(lat, lon, box)
        parts = {key: array[cut] for key, array in arrays.items()}
        write_npz(out / f"{name}.npz", {"lat": lat[cut], "lon": lon[cut], **parts})


main(work, "2t")
