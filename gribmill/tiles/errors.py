"""What goes wrong with tiles."""

from gribmill.errors import GribmillError


class TileError(GribmillError):
    """A tile that cannot be read, built or trusted; the sentence names the file."""
