"""Paths of stored files that a test knows to be on this machine."""

from __future__ import annotations

from pathlib import Path

from gribmill.storage.object_path import StoredPath


def local(path: StoredPath) -> Path:
    """The same path, which must not be in an object store."""
    assert isinstance(path, Path)
    return path
