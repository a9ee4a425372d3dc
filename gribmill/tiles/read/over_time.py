"""Finds the array for a name with a time range (`tp_6h`), regardless of its name in each tile."""

from __future__ import annotations

from collections.abc import Mapping

from gribmill.grib.names.window_name import RUN, base_name, split_window
from gribmill.tiles.format.meta import VariableMeta


def stored_over_time(name: str, variables: Mapping[str, VariableMeta]) -> str | None:
    """The array with the time range in the name: `tp_6h` may be `tp` at hour 6 and `tp_bucket` at hour 12."""
    if name.endswith(RUN):
        plain = base_name(name)
        return plain if plain in variables and variables[plain].step_minutes[0] == 0 else None
    found = split_window(name)
    if found is None:
        return None
    base, minutes = found
    for other, item in variables.items():
        start, end = item.step_minutes
        if end - start == minutes and item.statistic != "instant" and base_name(other) == base:
            return other
    return None
