"""Errors of drawing."""

from gribmill.errors import GribmillError


class DrawError(GribmillError):
    """A picture that cannot be drawn; the sentence says why and what to do."""
