"""The error raised for GRIB that cannot be read."""

from __future__ import annotations

from gribmill.errors import GribmillError


class GribError(GribmillError):
    """The bytes are not GRIB, or are GRIB that cannot be used. The message says where and why."""


def damaged(source: str, number: int | str, offset: int, reason: str) -> GribError:
    """The error for one message, with its file, number, byte offset and reason."""
    return GribError(f"{source}: message {number} at byte {offset}: {reason}")
