"""jobs.db and the files beside it: where they can be, and who can read them.

WAL mode needs shared memory between all processes that use the file, so it cannot be on a network file system. The
queue holds arguments, error messages and the output of jobs, so only the owner and the group may read it, even if the
umask would allow others. Tiles are separate files and stay readable.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import sqlite3
import stat
from pathlib import Path

from gribmill.queue.errors import StoreReadOnly, StoreUnsafe

log = logging.getLogger("gribmill.database")

OLDEST = (3, 37, 0)  # STRICT-era SQL and RETURNING (3.35); older versions misread statements silently
NETWORK = re.compile(r"^(nfs4?|cifs|smb[23]?|smbfs|9p|afs|ceph|glusterfs|lustre|gpfs|beegfs|fuse\..*|fuse)$")
MOUNTS = Path("/proc/self/mounts")
ESCAPED = re.compile(r"\\([0-7]{3})")  # how the kernel writes a space in a mount point
# The umask can only remove bits: 0640 with the usual 022, 0600 with 077.
FILE_MODE = 0o660
FOLDER_MODE = 0o770
COMPANIONS = ("", "-wal", "-shm", "-journal", ".lock", ".wake")


def check_sqlite_version(version: tuple[int, int, int] | None = None) -> None:
    """Refuse a SQLite library that is too old for our statements."""
    found = version or sqlite3.sqlite_version_info
    if found < OLDEST:
        raise StoreUnsafe(
            f"SQLite {'.'.join(map(str, found))} is too old for the queue: {'.'.join(map(str, OLDEST))} or newer is"
            " needed; use a newer Python build. (Was eccodes imported before sqlite3? Its wheel carries"
            " an old one: import sqlite3 or gribmill first)"
        )


def make_folder(folder: Path) -> None:
    """Create the folder of the database."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreReadOnly(f"{folder}: cannot create the queue's folder: {error.strerror}") from None


def check_place(folder: Path) -> None:
    """Refuse network file systems, where writes from two hosts would corrupt the file."""
    kind = file_system_of(folder)
    if kind and NETWORK.match(kind):
        raise StoreUnsafe(
            f"{folder} is on a network file system ({kind}), where SQLite's locks are not reliable: keep the data root"
            " on a local disk of one host; queue.allow_network_files = true opens it anyway"
        )


def file_system_of(folder: Path, mounts: Path = MOUNTS) -> str | None:
    """The type of the file system that the folder is on; None if unknown."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    target = folder.resolve()
    best: tuple[int, str] | None = None
    for line in lines:
        parts = line.split(" ")
        if len(parts) < 3:
            continue
        point = Path(ESCAPED.sub(lambda match: chr(int(match[1], 8)), parts[1]))
        if (point == target or point in target.parents) and (best is None or len(point.parts) >= best[0]):
            best = (len(point.parts), parts[2])
    return best[1] if best else None


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
