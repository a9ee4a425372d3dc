"""wgrib2 -small_grib, once per region, as its users crop. It writes GRIB, not NPZ."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from stopwatch import Boxes, main


def work(path: Path, boxes: Boxes, out: Path) -> None:
    for name, (west, south, east, north) in boxes.items():
        command = [
            os.environ["WGRIB2"],
            str(path),
            "-small_grib",
            f"{west}:{east}",
            f"{south}:{north}",
            str(out / f"{name}.grib2"),
        ]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


main(work, "")
