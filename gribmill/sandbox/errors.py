"""What can be wrong with a mirror of one's own."""

from __future__ import annotations

from gribmill.errors import GribmillError


class MirrorError(GribmillError):
    """A folder, a fault or a forecast that cannot be served or made."""
