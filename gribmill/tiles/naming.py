"""Which array of a tile each field of a file becomes."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from gribmill.tiles.draft import RESERVED
from gribmill.tiles.grib.field import Field
from gribmill.tiles.grib.keys import Keys
from gribmill.tiles.grib.level_text import level_text
from gribmill.tiles.lexicon import Match, choose, lexicon

LONGEST_NAME = 90


@dataclass(frozen=True, slots=True)
class Named:
    """What a field is called in a tile, and the words for it."""

    name: str
    long_name: str
    units: str
    standard_name: str | None
    level: str

    @property
    def angle(self) -> bool:
        """True for directions, whose averages mean nothing."""
        return self.units.lower().startswith(("deg", "°"))


def name_fields(items: Sequence[Field], groups: Sequence[Hashable | None], *, everything: bool) -> list[Named | None]:
    """A name for each field, unique within its group (one run, step and grid); None for those left out.

    The lexicon's best source of a quantity has its name. With `everything`, no field is left out.
    """
    matches = [lexicon().match_keys(item.keys) for item in items]
    members: dict[Hashable, list[int]] = defaultdict(list)
    for place, group in enumerate(groups):
        if group is not None:
            members[group].append(place)
    found: list[Named | None] = [None] * len(items)
    for places in members.values():
        names = choose([matches[place] for place in places])
        taken = {name for name in names if name}
        for place, name in zip(places, names, strict=True):
            found[place] = _named(items[place].keys, matches[place], name) if name else None
            if name is None and everything:
                found[place] = _unknown(items[place], taken)
    return found


def lexicon_name(item: Field) -> str | None:
    """What the lexicon would call a field, were it the only one of its kind."""
    match = lexicon().match_keys(item.keys)
    return match.variable.name if match else None


def _named(keys: Keys, match: Match | None, name: str) -> Named:
    assert match is not None
    variable = lexicon().get(name) or match.variable
    level = level_text(keys.level, keys.level2)
    return Named(name, variable.long_name, match.units, variable.standard_name, level)


def _unknown(item: Field, taken: set[str]) -> Named:
    """A field without a name of its own: named from its GRIB keys, numbered where that is not enough."""
    keys = item.keys
    match = lexicon().match_quantity(keys)
    level = level_text(keys.level, keys.level2)
    if match:
        base, long_name, units = match.variable.name, match.variable.long_name, match.units
    else:
        base, long_name, units = _words(item)
        base = f"{base}_{level}" if level else base
    details = _details(keys, windowed=match is None)
    plain = _slug("_".join((base, *details)))
    name, number = plain, 2
    while name in taken or name in RESERVED:
        name, number = f"{plain}_{number}", number + 1
    taken.add(name)
    return Named(name, ", ".join((long_name, *details)), units, None, level)


def _details(keys: Keys, *, windowed: bool) -> list[str]:
    """What tells the field from others of the same quantity and level."""
    details = []
    if windowed and keys.statistic != "instant":
        details.append(f"{keys.statistic}_{_hours(keys.start)}-{_hours(keys.end)}h")
    if keys.member is not None:
        details.append(f"m{keys.member:02d}")
    if keys.spread:
        details.append("spread")
    if keys.percentile is not None:
        details.append(f"p{keys.percentile:02d}")
    if keys.probability is not None:
        limits = [f"{limit:g}" for limit in (keys.probability.lower, keys.probability.upper) if limit is not None]
        details.append("_".join((f"prob{keys.probability.kind}", *limits)))
    return details


def _words(item: Field) -> tuple[str, str, str]:
    """Short name, name and units as ecCodes knows them, or the parameter's numbers."""
    import eccodes

    numbers = "_".join(str(number) for number in item.keys.parameter)
    words = {"shortName": f"param_{numbers}", "name": f"parameter {numbers.replace('_', '.')}", "units": "unknown"}
    try:
        handle = eccodes.codes_new_from_message(item.message())
    except eccodes.CodesInternalError:
        return words["shortName"], words["name"], words["units"]
    try:
        for key in words:
            text = str(eccodes.codes_get(handle, key))
            words[key] = words[key] if text in ("unknown", "~") else text
    except eccodes.CodesInternalError:
        pass
    finally:
        eccodes.codes_release(handle)
    return words["shortName"], words["name"], words["units"].replace("**", "")


def _slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9.-]+", "_", text).strip("_.-")[:LONGEST_NAME] or "field"


def _hours(moment: timedelta | None) -> str:
    return "" if moment is None else f"{moment.total_seconds() / 3600:g}"
