"""Restricts jobs.db and the files beside it to their owner and group, even if the umask would allow others.

The queue holds arguments, error messages and the output of jobs. Tiles are separate files and stay readable.
"""

from __future__ import annotations

import contextlib
import logging
import os
import stat
from pathlib import Path

log = logging.getLogger("gribmill.database")

# The umask can only remove bits: 0640 with the usual 022, 0600 with 077.
FILE_MODE = 0o660
FOLDER_MODE = 0o770
COMPANIONS = ("", "-wal", "-shm", "-journal", ".lock", ".wake")


def create_private(path: Path) -> None:
    """Create an empty file that others cannot read, unless the file exists.

    SQLite gives its log and its shared memory the permissions of the database. This never opens the file: closing it
    would release the locks that this process holds on it through SQLite.
    """
    with contextlib.suppress(FileExistsError):
        os.mknod(path, stat.S_IFREG | FILE_MODE)


def tighten(database: Path) -> None:
    """Remove other users' permissions from files of earlier versions; warns if that fails."""
    for suffix in COMPANIONS:
        path = database.with_name(database.name + suffix)
        try:
            mode = stat.S_IMODE(path.lstat().st_mode)
            if mode & stat.S_IRWXO and not path.is_symlink():
                path.chmod(mode & ~stat.S_IRWXO)
        except FileNotFoundError:
            continue
        except OSError as error:
            log.warning(
                "%s can be read by every user of this host, and its permissions cannot be changed (%s);"
                " its owner can: chmod o= %s",
                path,
                error.strerror,
                path,
            )
