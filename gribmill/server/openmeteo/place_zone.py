"""The time zone of a place, for `timezone=auto`."""

from __future__ import annotations

import tzfpy

from gribmill.tiles.read.point.place import Place

AUTO = "auto"


def zone_at(place: Place) -> str:
    """The name of the zone; at sea, the nautical time zone."""
    return tzfpy.get_tz(place.lon, place.lat) or "GMT"
