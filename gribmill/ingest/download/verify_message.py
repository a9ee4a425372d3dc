"""Verifies that bytes are the requested message: complete, for the right run and time, and as the index states."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from gribmill.grib.errors import GribError
from gribmill.grib.messages import MessageHeader, read_header
from gribmill.grib.names.variable import Variant, variant_of
from gribmill.grib.product.keys import Keys, Level, Parameter
from gribmill.grib.sections import ByteSource, read_indicator
from gribmill.ingest.index.entry import IndexEntry
from gribmill.ingest.index.select import Wanted

# Level texts in NOAA's and ECMWF's indexes with only one meaning in GRIB; heights in m, pressures in hPa.
_NUMBER = r"([0-9]{1,9}(?:\.[0-9]{0,9})?)"
_HEIGHT = re.compile(rf"{_NUMBER} m above ground")
_PRESSURE = re.compile(rf"{_NUMBER} mb|pl {_NUMBER}")
# How index lines of one perturbed member end.
_MEMBER = re.compile(r"(?:pf:|ENS=[+-])([0-9]{1,4})")
GROUND, ISOBARIC, ABOVE_GROUND = 1, 100, 103
# ECMWF's local discipline, for parameters without a WMO number in GRIB2.
ECMWF_DISCIPLINE = 192


@dataclass(frozen=True, slots=True)
class Expected:
    """The expected run, and the end of the fields' time range relative to it; None accepts any."""

    run: datetime | None = None
    end: timedelta | None = None

    def fits(self, keys: Keys) -> bool:
        """Whether a field is for that run and time. Unknown templates, whose time cannot be read, are accepted."""
        right_end = self.end is None or keys.end is None or keys.end == self.end
        return (self.run is None or keys.reference == self.run) and right_end


@dataclass(frozen=True, slots=True)
class IndexClaim:
    """What an index states about a field: its name, possible parameters (empty: unknown) and level.

    `plain`: it is neither a probability nor a percentile nor a spread. `member` is its number in the ensemble.
    """

    name: str
    parameters: tuple[Parameter, ...]
    level: Level | None = None
    variant: Variant | None = None
    plain: bool = False
    member: int | None = None

    def fits(self, keys: Keys) -> bool:
        """Whether the field may be what the index claims; numbers that cannot be compared are accepted."""
        if self.variant is not None and not self.variant.fits(keys):
            return False
        if self.plain and variant_of(keys) is not None:
            return False
        right_member = None in (self.member, keys.ensemble_member) or self.member == keys.ensemble_member
        return right_member and self._right_parameter(same_table(keys.parameter)) and self._right_level(keys.level)

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
    """Raise GribError unless these 16 bytes start a message of that length; detects a wrong range early."""
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
    """The message from `offset` to the end of `data`. Raises GribError if it is incomplete or not the expected one.

    `fields` is the number of fields it must have (None: any); at least `fitting` of them must be for the expected run
    and time, and each of `claims` must be true of one of those.
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
    """The claim of the index about the entry selected for a wanted quantity."""
    member = member_of((entry.extra,))
    plain = not want.has_own_ending and (entry.extra in ("", "fc") or member is not None)
    return IndexClaim(want.name, want.parameters, level_of(entry.level), want.variant, plain, member)


def member_of(endings: Iterable[str]) -> int | None:
    """The member of index lines that end so: 7 for `pf:7` and `ENS=+7`, 0 for `cf`; None if they state none."""
    for ending in endings:
        if ending == "cf":
            return 0
        if found := _MEMBER.fullmatch(ending):
            return int(found[1])
    return None


def level_of(text: str) -> Level | None:
    """The level for a text in an index; None for texts with several meanings."""
    if text == "surface":
        return Level(GROUND)
    if found := _HEIGHT.fullmatch(text):
        return Level(ABOVE_GROUND, float(found[1]))
    if found := _PRESSURE.fullmatch(text):
        return Level(ISOBARIC, 100 * float(found[1] or found[2]))
    return None


def same_table(parameter: Parameter) -> Parameter:
    """Maps versions 1 to 3 of GRIB1's table 2, which agree, to version 2."""
    return (2, parameter[1]) if len(parameter) == 2 and parameter[0] <= 3 else parameter


def _comparable(known: Parameter, parameter: Parameter) -> bool:
    """Whether edition and GRIB1 table are the same: other tables may have other numbers for the same quantity."""
    return len(known) == len(parameter) and (len(known) == 3 or known[0] == parameter[0])


def _numbers(keys: Keys) -> str:
    """A field's parameter and level as numbers: `parameter 0.0.6 at level 103, 2`."""
    level = "" if keys.level is None else f" at level {keys.level.kind}, {keys.level.value}"
    return f"parameter {'.'.join(map(str, keys.parameter))}{level}"
