"""Recognises a full disk among other failures: it is temporary, so jobs wait instead of failing."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gribmill.storage.errors import StorageError


class NoSpace(StorageError):
    """The disk is full, or a quota is used up."""


def is_no_space(error: OSError) -> bool:
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def space_for(path: Path) -> Iterator[None]:
    """Translate errors about a full disk into NoSpace, which names the file."""
    try:
        yield
    except OSError as error:
        if is_no_space(error):
            raise NoSpace(f"no space is left on the disk for {path}") from error
        raise
