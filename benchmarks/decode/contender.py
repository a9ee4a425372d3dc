"""One decoder over one file: `python contender.py NAME FILE ROUNDS` prints the CPU time of each round and peak memory.

Runs in the peers' environments, where only the decoder is installed: only gribmill's own function imports gribmill.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

Decode = Callable[[], float]


def gribmill(path: str) -> Decode:
    """Every field to float32, by `Field.values()`; the mean is reported as a check."""
    from gribmill.grib.decode.field import read_fields

    def decode() -> float:
        return last_mean(field.values() for field in read_fields(path))

    return decode


def gribmill_reusing(path: str) -> Decode:
    """The same into reused arrays: new memory costs about as much as decoding."""
    import numpy as np

    from gribmill.grib.decode.field import read_fields

    kept: dict[tuple[int, int], Any] = {}

    def room(shape: tuple[int, int]) -> Any:
        if shape not in kept:
            kept[shape] = np.empty(shape, np.float32)
        return kept[shape]

    return lambda: last_mean(field.values(room(shape_of(field))) for field in read_fields(path))


def gribmill_windows(path: str) -> Decode:
    """Eight windows of a hundredth of the grid each, in one pass over every field."""
    from gribmill.grib.decode.field import read_fields
    from gribmill.regions.window import Window

    def decode() -> float:
        for field in read_fields(path):
            ny, nx = shape_of(field)
            rows, columns = ny // 10, nx // 10
            windows = [
                Window(slice(n * rows, n * rows + rows), (slice(n * columns, n * columns + columns),))
                for n in range(1, 9)
            ]
            parts = field.cut(windows)
        return float(parts[0].mean())

    return decode


def eccodes(path: str) -> Decode:
    import eccodes
    import numpy as np

    def arrays() -> Any:
        with Path(path).open("rb") as file:
            while (handle := eccodes.codes_grib_new_from_file(file)) is not None:
                yield eccodes.codes_get_values(handle).astype(np.float32)
                eccodes.codes_release(handle)

    return lambda: last_mean(arrays())


def cfgrib(path: str) -> Decode:
    import cfgrib

    def decode() -> float:
        # No index file: it would be read back in the second round.
        sets = cfgrib.open_datasets(path, backend_kwargs={"indexpath": "", "errors": "ignore"})
        return last_mean(array.values for dataset in sets for array in dataset.data_vars.values())

    return decode


def gribberish(path: str) -> Decode:
    import gribberish
    import numpy as np

    def decode() -> float:
        data = Path(path).read_bytes()
        places = [entry[1] for entry in gribberish.parse_grib_mapping(data).values()]
        return last_mean(gribberish.parse_grib_array(data, place).astype(np.float32) for place in places)

    return decode


def pygrib(path: str) -> Decode:
    import numpy as np
    import pygrib

    return lambda: last_mean(message.values.astype(np.float32) for message in pygrib.open(path))


def rasterio(path: str) -> Decode:
    import rasterio

    def decode() -> float:
        with rasterio.open(path) as source:
            return last_mean(source.read(band, out_dtype="float32") for band in source.indexes)

    return decode


def earthkit(path: str) -> Decode:
    """As in its guide: a file's field list, field by field to NumPy."""
    import earthkit.data
    import numpy as np

    def decode() -> float:
        found = earthkit.data.from_source("file", path).to_fieldlist()
        return last_mean(field.to_numpy(dtype=np.float32) for field in found)

    return decode


def grib2io(path: str) -> Decode:
    import grib2io

    def decode() -> float:
        with grib2io.open(path) as messages:
            return last_mean(message.data for message in messages)

    return decode


def wgrib2(path: str) -> Decode:
    """Floats into a file in memory, as other programs would read them."""
    program = os.environ["WGRIB2"]

    def decode() -> float:
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
            command = [program, path, "-no_header", "-order", "we:sn", "-bin", f"{folder}/out.bin"]
            subprocess.run(command, check=True, capture_output=True)
        return float("nan")

    return decode


def shape_of(field: Any) -> tuple[int, int]:
    return field.layout.ny, field.layout.nx


def last_mean(arrays: Any) -> float:
    """Consumes the arrays one at a time; the mean of the last proves that there were values."""
    array = None
    for array in arrays:  # noqa: B007
        pass
    return float("nan") if array is None else float(array.mean())


WAYS: dict[str, Callable[[str], Decode]] = {
    "gribmill": gribmill, "gribmill-reusing": gribmill_reusing, "gribmill-windows": gribmill_windows,
    "gribmill-off": gribmill, "eccodes": eccodes, "cfgrib": cfgrib, "gribberish": gribberish, "pygrib": pygrib,
    "rasterio": rasterio, "earthkit": earthkit, "grib2io": grib2io, "wgrib2": wgrib2,
}  # fmt: skip


def peak_mb() -> float:
    """Peak memory of this process or of a program that it ran."""
    status = Path("/proc/self/status").read_text()
    own = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    return max(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) / 1024


def cpu() -> float:
    """User and system time of this process and of programs that it ran."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in both)


def main(name: str, path: str, rounds: int) -> None:
    decode = WAYS[name](path)
    decode()  # imports, definitions and page faults are paid once
    times = []
    for _ in range(rounds):
        before = cpu()
        decode()
        times.append((cpu() - before) * 1e3)
    sys.stdout.write(json.dumps({"cpu_ms": times, "peak_mb": peak_mb()}) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
