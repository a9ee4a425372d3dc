"""Whether bytes are the requested message: whole, of the right run and time, and what the index says it is."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from gribmill.grib.errors import GribError
from gribmill.grib.messages import MessageHeader, read_header
from gribmill.grib.names.variable import Variant
from gribmill.grib.product.keys import Keys, Level, Parameter
from gribmill.grib.sections import ByteSource, read_indicator
from gribmill.ingest.index.entry import IndexEntry
from gribmill.ingest.index.select import Wanted

# Levels whose text, in NOAA's and in ECMWF's indexes, has only one meaning in GRIB; heights in m, pressures in hPa.
_NUMBER = r"([0-9]{1,9}(?:\.[0-9]{0,9})?)"
_HEIGHT = re.compile(rf"{_NUMBER} m above ground")
_PRESSURE = re.compile(rf"{_NUMBER} mb|pl {_NUMBER}")
GROUND, ISOBARIC, ABOVE_GROUND = 1, 100, 103
# ECMWF's numbering of its own parameters, used in GRIB2 for those without a WMO number.
ECMWF_DISCIPLINE = 192


@dataclass(frozen=True, slots=True)
class Expected:
    """The run, and the end of the fields' time counted from it; None accepts any."""

    run: datetime | None = None
    end: timedelta | None = None

    def fits(self, keys: Keys) -> bool:
        """Whether a field is of that run and time; an unknown template, whose time cannot be read, is accepted."""
        right_end = self.end is None or keys.end is None or keys.end == self.end
        return (self.run is None or keys.reference == self.run) and right_end


@dataclass(frozen=True, slots=True)
class IndexClaim:
    """What an index says about a field: the name, its possible parameters (none: not known) and its level."""

    name: str
    parameters: tuple[Parameter, ...]
    level: Level | None = None
    variant: Variant | None = None

    def fits(self, keys: Keys) -> bool:
        """Whether the field can be what is claimed; numbers that cannot be compared are accepted."""
        if self.variant is not None and not self.variant.fits(keys):
            return False
        return self._right_parameter(same_table(keys.parameter)) and self._right_level(keys.level)

    def _right_parameter(self, parameter: Parameter) -> bool:
        known = [one for one in map(same_table, self.parameters) if _comparable(one, parameter)]
        return not known or parameter in known or parameter[0] == ECMWF_DISCIPLINE

    def _right_level(self, level: Level | None) -> bool:
        if self.level is None or level is None:
            return True
        if self.level.kind != level.kind:
            return False
        return None in (self.level.value, level.value) or math.isclose(self.level.value or 0, level.value or 0)


def verify_beginning(first: bytes, length: int) -> None:
    """Raise GribError unless these 16 bytes start a message of that length; avoids reading all of a wrong range."""
    indicator = read_indicator(first)
    if indicator.length != length and not indicator.large:
        raise GribError(f"its length is {indicator.length} bytes, the index says {length}")


def verify_message(
    data: ByteSource,
    offset: int,
    number: int,
    expected: Expected,
    *,
    fields: int | None,
    fitting: int,
    claims: Sequence[IndexClaim] = (),
) -> MessageHeader:
    """The message from `offset` to the end of `data`; a GribError unless it is whole, and of the expected run and time.

    `fields` is how many fields it must have (None: any), `fitting` how many of them at least are of that time. Each of
    `claims` must be true of one of these.
    """
    header = read_header(data, offset, number)
    if header.length != len(data) - offset:
        raise GribError(f"its length is {header.length} bytes, {len(data) - offset} were expected")
    if fields is not None and len(header.fields) != fields:
        raise GribError(f"it has {len(header.fields)} fields, the index says {fields}")
    timely = [field.keys for field in header.fields if expected.fits(field.keys)]
    first = header.fields[0].keys
    if len(timely) < fitting:
        raise GribError(
            f"it is of the run {first.reference:%Y-%m-%d %H:%M} and its time {first.end}, "
            f"not of {expected.run and f'{expected.run:%Y-%m-%d %H:%M}'} and {expected.end}"
        )
    for claim in claims:
        if not any(claim.fits(keys) for keys in timely):
            raise GribError(f"it holds {_numbers(first)}, which is not {claim.name}, as the index says")
    return header


def claim_of(want: Wanted, entry: IndexEntry) -> IndexClaim:
    """What the index claims about the entry that was selected for a wanted quantity."""
    return IndexClaim(want.name, want.parameters, level_of(entry.level), want.variant)


def level_of(text: str) -> Level | None:
    """The level that an index's text means; None for texts with several meanings."""
    if text == "surface":
        return Level(GROUND)
    if found := _HEIGHT.fullmatch(text):
        return Level(ABOVE_GROUND, float(found[1]))
    if found := _PRESSURE.fullmatch(text):
        return Level(ISOBARIC, 100 * float(found[1] or found[2]))
    return None


def same_table(parameter: Parameter) -> Parameter:
    """Versions 1 to 3 of GRIB1's table 2 agree: they count as version 2."""
    return (2, parameter[1]) if len(parameter) == 2 and parameter[0] <= 3 else parameter


def _comparable(known: Parameter, parameter: Parameter) -> bool:
    """Of the same edition, and in GRIB1 of the same table: other tables may number the same quantity differently."""
    return len(known) == len(parameter) and (len(known) == 3 or known[0] == parameter[0])


def _numbers(keys: Keys) -> str:
    """A field in numbers: `parameter 0.0.6 at level 103, 2`."""
    level = "" if keys.level is None else f" at level {keys.level.kind}, {keys.level.value}"
    return f"parameter {'.'.join(map(str, keys.parameter))}{level}"
