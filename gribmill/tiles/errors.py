"""Errors of tiles."""

from gribmill.errors import GribmillError


class TileError(GribmillError):
    """A tile cannot be read, built or trusted; the message names the file."""
