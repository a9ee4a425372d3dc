"""New databases of the tests are copies of one that was migrated once: migrations take thirty milliseconds.

Processes that a test starts migrate for themselves, and so do tests that ask for `fresh_migrations`.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from gribmill.database.sqlite import database, private_files
from gribmill.database.sqlite.database import SqliteDatabase

CREATE_EMPTY: Callable[[Path], None] = private_files.create_private


@cache
def _migrated() -> bytes:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "create_private", CREATE_EMPTY)
        path = Path(folder) / "jobs.db"
        SqliteDatabase(path, allow_network_files=True).close()
        return path.read_bytes()


def _create_migrated(path: Path) -> None:
    """What `create_private` does, with content. A name appears with all of it."""
    if path.exists():
        return
    new = path.with_name(f".{path.name}.{os.getpid()}.{id(path)}")
    with os.fdopen(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, private_files.FILE_MODE), "wb") as file:
        file.write(_migrated())
    with contextlib.suppress(FileExistsError):
        os.link(new, path)
    new.unlink()


@pytest.fixture(scope="session", autouse=True)
def migrated_databases() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "create_private", _create_migrated)
        yield


@pytest.fixture
def fresh_migrations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "create_private", CREATE_EMPTY)
