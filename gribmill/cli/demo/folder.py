"""The folder of the demo. It is emptied each time; a folder with other files is refused."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gribmill.errors import GribmillError

# Marks a folder that was created by a demo and may be emptied by the next one.
MARKER = ".gribmill-demo"


@contextmanager
def fresh_folder(folder: Path) -> Iterator[None]:
    """Create the folder, or empty the one of the last demo. Only one demo can use it at a time."""
    marker = folder / MARKER
    if folder.exists() and not marker.is_file():
        raise GribmillError(f"{folder} was not made by a demo and is not touched; use another data root (--data DIR)")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(marker, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise GribmillError(f"cannot create the folder {folder} for the demo: {error.strerror or error}") from None
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise GribmillError(f"another demo is running in {folder}; wait for it, or use --data DIR") from None
        _empty(folder)
        yield
    finally:
        os.close(handle)


def _empty(folder: Path) -> None:
    for entry in folder.iterdir():
        if entry.name == MARKER:
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()
