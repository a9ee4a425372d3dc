"""Errors of regions, boxes and grids."""

from __future__ import annotations

from gribmill.errors import GribmillError


class RegionError(GribmillError):
    """A region, box or grid that cannot be used; the sentence says why."""
