"""Lists one file's messages again and again: `python lister.py NAME FILE ROUNDS` prints the CPU of each round.

Runs in the peers' environments: only gribmill's own function imports gribmill. All give name, level, step and time of
each message.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

List = Callable[[], int]
KEYS = ("shortName", "typeOfLevel", "level", "stepRange", "dataDate", "dataTime")


def gribmill(path: str) -> List:
    from gribmill.grib.inventory import inventory

    return lambda: len([(one.name, one.level, one.step, one.reference) for one in inventory(Path(path))])


def eccodes(path: str) -> List:
    import eccodes

    def listed() -> int:
        found = []
        with Path(path).open("rb") as file:
            while (handle := eccodes.codes_grib_new_from_file(file, headers_only=True)) is not None:
                found.append([eccodes.codes_get(handle, key) for key in KEYS])
                eccodes.codes_release(handle)
        return len(found)

    return listed


def cfgrib(path: str) -> List:
    from cfgrib.messages import FileIndex, FileStream

    def listed() -> int:
        index = FileIndex.from_fieldset(FileStream(path), list(KEYS))
        return sum(len(places) for _, places in index.field_ids_index)

    return listed


def pygrib(path: str) -> List:
    import pygrib

    return lambda: len([str(message) for message in pygrib.open(path)])


def earthkit(path: str) -> List:
    import earthkit.data

    return lambda: len(earthkit.data.from_source("file", path).to_fieldlist().ls())


def grib2io(path: str) -> List:
    import grib2io

    def listed() -> int:
        with grib2io.open(path, save_index=False, use_index=False) as messages:
            return len([str(message) for message in messages])

    return listed


WAYS = {way.__name__: way for way in (gribmill, eccodes, cfgrib, pygrib, earthkit, grib2io)}


def main(name: str, path: str, rounds: int) -> None:
    listed = WAYS[name](path)
    count = listed()  # imports and tables are paid once
    times = []
    for _ in range(rounds):
        start = time.process_time()
        listed()
        times.append((time.process_time() - start) * 1e3)
    sys.stdout.write(json.dumps({"cpu_ms": times, "messages": count}) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
