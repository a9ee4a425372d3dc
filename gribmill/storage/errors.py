"""Errors about stored files."""

from __future__ import annotations

from gribmill.errors import GribmillError


class StorageError(GribmillError):
    """A folder or store has unexpected contents, or failed a request."""


class ObjectStoreError(StorageError):
    """The object store refused a request, or cannot be used as configured."""


class ObjectStoreUnreachable(StorageError):
    """The object store did not respond, or is busy: a temporary failure, so jobs wait for it."""


class ChangedObject(StorageError):
    """The condition of a request does not hold: another process wrote the object."""


class NoSpace(StorageError):
    """The disk is full, or a quota is used up: a temporary failure, so jobs wait for it."""


class FolderBusy(StorageError):
    """Another process held the lock of a folder for too long."""


class Superseded(StorageError):
    """The file would replace a newer one."""
