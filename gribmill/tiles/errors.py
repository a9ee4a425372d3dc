"""Errors of tiles."""

from gribmill.errors import GribmillError


class TileError(GribmillError):
    """A tile cannot be read, built or trusted; the message names the file."""


class VanishedRun(TileError):
    """The tiles of a run were removed after it was chosen: another run has to be chosen."""
