"""What an index says that a field is, compared with the field's own header."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from gribmill.grib.product.keys import Keys, Level
from gribmill.ingest.index.entry import Entry
from gribmill.ingest.index.wanted import Wanted

# Levels whose words, in NOAA's and in ECMWF's indexes, have one meaning in GRIB2; heights in m, pressures in hPa.
_HEIGHT = re.compile(r"([0-9.]{1,9}) m above ground")
_PRESSURE = re.compile(r"([0-9.]{1,9}) mb|pl ([0-9.]{1,9})")
GROUND, ISOBARIC, ABOVE_GROUND = 1, 100, 103
# ECMWF's own numbering of everything it has: in GRIB2 only for what has no number of the WMO yet.
ECMWF_DISCIPLINE = 192


@dataclass(frozen=True, slots=True)
class Claim:
    """A wanted name, the parameters that it can have (none: not known), and its level (None: not known)."""

    name: str
    parameters: tuple[tuple[int, ...], ...]
    level: Level | None = None

    def fits(self, keys: Keys) -> bool:
        """Whether the field can be what is claimed; where numbers cannot be compared, it can."""
        return self._right_parameter(same_table(keys.parameter)) and self._right_level(keys.level)

    def _right_parameter(self, parameter: tuple[int, ...]) -> bool:
        known = [one for one in map(same_table, self.parameters) if _comparable(one, parameter)]
        return not known or parameter in known or parameter[0] == ECMWF_DISCIPLINE

    def _right_level(self, level: Level | None) -> bool:
        if self.level is None or level is None:
            return True
        if self.level.kind != level.kind:
            return False
        return None in (self.level.value, level.value) or math.isclose(self.level.value or 0, level.value or 0)


def claim_of(want: Wanted, entry: Entry) -> Claim:
    """What the index claims of the entry that was taken for something wanted."""
    return Claim(want.name, want.parameters, level_of(entry.level))


def level_of(words: str) -> Level | None:
    """The level that an index's words mean; None for words that can mean several."""
    try:
        if words == "surface":
            return Level(GROUND)
        if found := _HEIGHT.fullmatch(words):
            return Level(ABOVE_GROUND, float(found[1]))
        if found := _PRESSURE.fullmatch(words):
            return Level(ISOBARIC, 100 * float(found[1] or found[2]))
    except ValueError:
        pass
    return None


def same_table(parameter: tuple[int, ...]) -> tuple[int, ...]:
    """Versions 1 to 3 of GRIB1's own table number alike."""
    return (2, parameter[1]) if len(parameter) == 2 and parameter[0] <= 3 else parameter


def _comparable(known: tuple[int, ...], parameter: tuple[int, ...]) -> bool:
    """Of the same edition, and in GRIB1 of the same table: other tables may have another number for the same."""
    return len(known) == len(parameter) and (len(known) == 3 or known[0] == parameter[0])
