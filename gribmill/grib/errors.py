"""The error of everything that reads GRIB."""

from __future__ import annotations

from gribmill.errors import GribmillError


class GribError(GribmillError):
    """Bytes that are no GRIB, or GRIB that cannot be used: a sentence that names the place."""


def damaged(source: str, number: int | str, offset: int, reason: str) -> GribError:
    """The error for one message: which file, which message, at which byte, and why."""
    return GribError(f"{source}: message {number} at byte {offset}: {reason}")
