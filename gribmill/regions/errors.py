"""What is wrong with a region, a box or a grid."""

from __future__ import annotations

from gribmill.errors import GribmillError


class RegionError(GribmillError):
    """A region, box or grid that cannot be used; the sentence says why."""
