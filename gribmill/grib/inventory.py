"""Lists the fields of a GRIB file from its headers, optionally with statistics of their values."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from gribmill.grib.decode.eccodes import short_name
from gribmill.grib.decode.field import Field, scan_fields
from gribmill.grib.errors import GribError
from gribmill.grib.grid.grid_section import grid_name
from gribmill.grib.messages import DamagedMessage, map_file, without_messages
from gribmill.grib.names.array_name import array_name, array_name_over_time, constituent_name
from gribmill.grib.names.lexicon import Match, lexicon, unique_names
from gribmill.grib.names.long_names import ncep_name
from gribmill.grib.product.keys import FieldIdentity, Keys, field_identity
from gribmill.grib.product.levels import level_text

# A time range is written in the largest unit that divides both ends. GRIB has no fractions of a second.
STEP_UNITS = ((timedelta(hours=1), "h"), (timedelta(minutes=1), "min"), (timedelta(seconds=1), "s"))


@dataclass(frozen=True, slots=True)
class Stats:
    """Statistics of the values, ignoring missing ones; NaN if all are missing."""

    minimum: float
    mean: float
    maximum: float
    missing: int


@dataclass(frozen=True, slots=True)
class InventoryEntry:
    """One field. `reason` says why it cannot be read; most other attributes are then None."""

    number: str
    offset: int
    length: int | None = None
    edition: int | None = None
    name: str | None = None
    # NCEP's or ecCodes' name for a quantity that is not in the lexicon.
    short_name: str | None = None
    parameter: tuple[int, ...] | None = None
    units: str | None = None
    level: str | None = None
    reference: datetime | None = None
    step: str | None = None
    grid: str | None = None
    packing: str | None = None
    bits: int | None = None
    stats: Stats | None = None
    reason: str | None = None
    identity: FieldIdentity | None = None


def inventory(path: Path, *, stats: bool = False) -> Iterator[InventoryEntry]:
    """Yields each field of a file, damaged ones with a reason. Raises GribError if the file cannot be read at all."""
    data = map_file(path)
    found = list(scan_fields(data, str(path)))
    if not found:
        raise without_messages(data, str(path))
    names = names_in_tiles([item for item in found if isinstance(item, Field)])
    for item in found:
        if isinstance(item, DamagedMessage):
            yield InventoryEntry(str(item.number), item.offset, reason=item.reason)
        else:
            yield _entry(item, names[item.number, item.sub], stats)


def names_in_tiles(fields: Sequence[Field]) -> dict[tuple[int, int], str]:
    """The name that each field's array would have in a tile with all of them.

    The keys are the number of the message in the file and of the field in the message.
    """
    groups: dict[Hashable, list[Field]] = {}
    for field in fields:
        keys = field.keys
        group = (keys.reference, keys.end, bytes(field.sections.grid or b""), keys.member, keys.derived)
        groups.setdefault(group, []).append(field)
    names: dict[tuple[int, int], str] = {}
    for each in groups.values():
        ordered = sorted(each, key=lambda field: field.keys.window_minutes)
        matches = [lexicon().match_keys(field.keys) for field in ordered]
        usual = unique_names(matches, [field.keys.window_minutes for field in ordered])
        taken = {name for name in usual if name}
        for field, name, match in zip(ordered, usual, matches, strict=True):
            names[field.number, field.sub] = name or _further_name(field.keys, match, taken)
    return names


def _further_name(keys: Keys, match: Match | None, taken: set[str]) -> str:
    """The name of a field that is not in the lexicon, or whose usual name is taken by another field."""
    others = [one.variable.name for one in lexicon().matches(keys)] if match else []
    plain = next((name for name in others if name not in taken), array_name(keys))
    if plain in taken and keys.window_minutes:
        plain = array_name_over_time(keys)
    name, number = plain, 2
    while name in taken:
        name, number = f"{plain}_{number}", number + 1
    taken.add(name)
    return name


def _entry(field: Field, name: str, stats: bool) -> InventoryEntry:
    short, units = _known_as(field)
    numbers, reason = None, None
    if stats:
        try:
            numbers = _stats(field)
        except GribError as error:
            reason = str(error).rpartition(f"at byte {field.offset}: ")[2]
    return InventoryEntry(
        number=field.label,
        offset=field.offset,
        length=field.length,
        edition=field.edition,
        name=name,
        short_name=short,
        parameter=field.keys.parameter,
        units=units,
        level=level_text(field.keys.level, field.keys.level2),
        reference=field.keys.reference,
        step=step_text(field.keys),
        grid=_grid(field),
        packing=field.packing.name + (" bitmap" if field.packing.bitmap else ""),
        bits=field.packing.bits,
        stats=numbers,
        reason=reason,
        identity=field_identity(field.keys),
    )


def _known_as(field: Field) -> tuple[str | None, str | None]:
    """The short name of a quantity that is not in the lexicon, or the units of one that is."""
    match = None if field.keys.selector else lexicon().match_quantity(field.keys)
    if match:
        # A probability is a fraction or a percentage, regardless of the quantity's units.
        return None, None if field.keys.probability else match.units
    if constituent := constituent_name(field.keys):
        return None, constituent.units
    try:
        return ncep_name(field.keys) or short_name(field.message()), None
    except GribError:
        return None, None


def step_text(keys: Keys) -> str:
    """`6 h`, `0-6 h accum`, `0-15 min avg`, `90 s`; "" where the message does not state it."""
    if keys.start is None or keys.end is None:
        return ""
    unit, word = next(unit for unit in STEP_UNITS if not keys.start % unit[0] and not keys.end % unit[0])
    start, end = f"{keys.start / unit:g}", f"{keys.end / unit:g}"
    if keys.statistic == "instant":
        return f"{end} {word}"
    return f"{start}-{end} {word} {keys.statistic}"


def _grid(field: Field) -> str:
    kind = grid_name(field.edition, field.sections.grid)
    if field.layout:
        return f"{kind} {field.layout.nx}×{field.layout.ny}"
    return f"{kind} {field.packing.points}"


def _stats(field: Field) -> Stats:
    import numpy as np

    values = field.flat_values()
    there = values[~np.isnan(values)]
    if there.size == 0:
        return Stats(math.nan, math.nan, math.nan, values.size)
    mean = float(there.mean(dtype=np.float64))
    return Stats(float(there.min()), mean, float(there.max()), values.size - there.size)
