"""New test databases are copies of one that was migrated once, because migrations take thirty milliseconds.

Processes started by a test run the migrations, and so do tests that change one (`migrate_new_databases`).
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from gribmill.database.sqlite import files, handle
from gribmill.database.sqlite.database import SqliteDatabase

CREATE_EMPTY: Callable[[Path], None] = files.create_private


@cache
def _migrated() -> bytes:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        migrate_new_databases(patch)
        path = Path(folder) / "jobs.db"
        SqliteDatabase(path, allow_network_files=True).close()
        return path.read_bytes()


def _create_migrated(path: Path) -> None:
    """What `create_private` does, with content. A name appears with all of it."""
    if path.exists():
        CREATE_EMPTY(path)
        return
    new = path.with_name(f".{path.name}.{os.getpid()}.{id(path)}")
    with os.fdopen(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, files.FILE_MODE), "wb") as file:
        file.write(_migrated())
    with contextlib.suppress(FileExistsError):
        os.link(new, path)
    new.unlink()


def migrate_new_databases(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(handle, "create_private", CREATE_EMPTY)


@pytest.fixture(scope="session", autouse=True)
def migrated_databases() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(handle, "create_private", _create_migrated)
        yield
