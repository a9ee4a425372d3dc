"""Queries of the object store from a host that can reach it: `object_side ENDPOINT ready|copy URL [DIR]`."""

from __future__ import annotations

import sys
from pathlib import Path

from gribmill.errors import GribmillError
from gribmill.storage.bucket import StoreOptions
from gribmill.storage.object_path import ObjectPath, object_path
from tests.waiting import wait_until


def is_writable(path: ObjectPath) -> bool:
    try:
        path.write([b"1"])
    except GribmillError:
        return False
    return True


def copy_all(place: ObjectPath, folder: Path) -> None:
    """Copy every object below the URL to files of the same names."""
    for path, _ in place.below():
        target = folder / str(path).removeprefix(f"{place}/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())


def main(endpoint: str, verb: str, url: str, folder: str = "") -> None:
    place = object_path(url, StoreOptions(endpoint))
    if verb == "ready":
        wait_until(lambda: is_writable(place), 90, "the S3 server")
    else:
        copy_all(place, Path(folder))


if __name__ == "__main__":
    main(*sys.argv[1:])
