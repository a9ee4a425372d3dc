"""The floor: read the file, copy as many bytes as the tiles' arrays have, write them raw with one fsync per tile."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from stopwatch import Boxes, main

from gribmill.grib.decode.field import read_fields
from gribmill.regions.box import Box
from gribmill.regions.window import window

sizes: dict[str, int] = {}
arrays: list[int] = []


def work(path: Path, boxes: Boxes, out: Path) -> None:
    if not sizes:
        fields = list(read_fields(path))
        for name, box in boxes.items():
            found = window(fields[0].grid, Box(*box))
            assert found is not None
            sizes[name] = found.points * 4
        arrays.append(len(fields))
    content = path.read_bytes()
    largest = max(sizes.values())
    source = np.frombuffer(content * (largest // len(content) + 1), np.uint8, largest)
    copy = np.empty(largest, np.uint8)
    for name, size in sizes.items():
        descriptor = os.open(out / f"{name}.raw", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for _ in range(arrays[0]):
            np.copyto(copy[:size], source[:size])
            os.write(descriptor, copy[:size].data)
        os.fsync(descriptor)
        os.close(descriptor)


main(work, "t2m")
