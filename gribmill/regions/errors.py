"""Errors of regions, boxes and grids."""

from __future__ import annotations

from gribmill.errors import GribmillError


class RegionError(GribmillError):
    """A region, box or grid is not valid; the message says why."""
