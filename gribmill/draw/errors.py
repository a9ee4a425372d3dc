"""Errors of drawing."""

from gribmill.errors import GribmillError


class DrawError(GribmillError):
    """A picture cannot be drawn; the message says why and what to do."""
