"""Names the fields of a file, and describes them for the `meta` of a tile."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import zip_longest
from typing import Literal

import numpy as np

from gribmill.grib.decode.field import Field
from gribmill.grib.names.array_name import array_name, array_name_over_time
from gribmill.grib.names.lexicon import Match, lexicon, unique_names
from gribmill.grib.names.long_names import long_name, of_ensemble
from gribmill.grib.names.time_range import BUCKET, base_name, with_window
from gribmill.grib.names.variable import CodeTable, Variable, code_table, mrms_fill_values
from gribmill.grib.product.keys import Keys, field_identity
from gribmill.grib.product.levels import level_text
from gribmill.tiles.build.region_cut import FillRule, ValueKind
from gribmill.tiles.format.meta import RESERVED, SkippedMessage, SourcePacking, VariableMeta
from gribmill.tiles.read.units import OPPOSITE_SIGN

NO_FILL = FillRule()
# Units of angles in the lexicon and in ecCodes. Temperatures in degrees are not among them: they can be averaged.
ANGLES = {"°", "deg", "degree", "degrees", "degree true", "degree e"}
CELL_STATISTICS = {"_min": "minimum in the cell", "_max": "maximum in the cell"}


@dataclass(frozen=True, slots=True)
class NamedField:
    """The name and description of a field in a tile."""

    name: str
    long_name: str
    units: str
    standard_name: str | None
    level: str
    fill: FillRule = NO_FILL
    flag_values: tuple[int, ...] = ()
    flag_meanings: tuple[str, ...] = ()
    negated: bool = False

    @property
    def kind(self) -> ValueKind:
        """The kind of values: directions and codes must not be averaged."""
        if self.flag_values:
            return "code"
        return "angle" if self.units.lower() in ANGLES else "number"


@dataclass(frozen=True, slots=True)
class FieldChoice:
    """Which fields are requested. `plain`: the file has variables of the lexicon, not only spreads of them."""

    wanted: frozenset[str]
    everything: bool
    plain: bool

    @property
    def bases(self) -> frozenset[str]:
        """The wanted quantities, over any time range."""
        return _bases(self.wanted)

    def may_want(self, item: Field) -> bool:
        """Whether the field could be requested. Totals and their buckets are distinguished later."""
        if self.everything:
            return True
        names = _lexicon_names(item)
        if not names:
            return self.wants_variant(item)
        return self._wants_one(names) or (_is_variant(item.keys) and self.wants_variant(item))

    def _wants_one(self, names: Sequence[str]) -> bool:
        return not self.wanted or any(base_name(name) in self.bases for name in names)

    def match(self, keys: Keys) -> Match | None:
        """The field's variable in the lexicon; if several match, a wanted one."""
        found = lexicon().plain_matches(keys)
        if found and _is_variant(keys) and not self._wants_one([one.variable.name for one in found]):
            return None  # it may be wanted under the name formed from its keys
        return next((one for one in found if one.variable.name in self.wanted), found[0] if found else None)

    def wants_variant(self, item: Field) -> bool:
        """Whether a spread, probability or percentile is wanted: by name, or if the file has nothing else."""
        if lexicon().match_quantity(item.keys) is None:
            return False
        names = {array_name(item.keys), array_name_over_time(item.keys)}
        return not names.isdisjoint(self.wanted) or (not self.plain and not self.wanted)

    def wanted_name(self, name: str, keys: Keys, others: Collection[str]) -> str:
        """The name under which a field is wanted, if its usual name is not.

        At some hours, `tp_6h` may be the run total or the bucket; in the first hours of a run, the run total is also
        the bucket.
        """
        choices = [with_window(base_name(name), keys.window_minutes)] if keys.window_minutes else []
        choices += [f"{name}{BUCKET}"] if keys.statistic == "accum" else []
        return next((one for one in choices if one in self.wanted and one not in others), name)


def name_fields(
    items: Sequence[Field], groups: Sequence[Hashable | None], choice: FieldChoice
) -> list[NamedField | None]:
    """A name for each field, unique within its group (one run, step and grid); None for fields left out.

    The best source of a variable gets the lexicon's name, in the first ensemble member of the group.
    """
    found: list[NamedField | None] = [None] * len(items)
    for members in _by_member(items, groups):
        taken: set[str] = set()
        for number, places in enumerate(members):
            # The shortest time range gets the plain name.
            places = sorted(places, key=lambda place: items[place].keys.window_minutes)
            matches = [choice.match(items[place].keys) for place in places]
            names = _names(matches, [items[place].keys for place in places], choice) if number == 0 else []
            taken |= {name for name in names if name}
            for place, name, match in zip_longest(places, names, matches):
                if name and match:
                    found[place] = _named(items[place].keys, match, name)
                elif match and number == 0 and (other := _other_variable(items[place].keys, taken)):
                    found[place] = _named(items[place].keys, other, other.variable.name)
                    taken.add(other.variable.name)
                elif choice.everything or (match is None and number == 0 and choice.wants_variant(items[place])):
                    found[place] = _unknown(items[place], taken, choice.wanted)
    return found


def variable_meta(
    named: NamedField, item: Field, winds: Literal["earth", "grid"] | None, method: str | None, filled: int = 0
) -> VariableMeta:
    """All metadata except the statistics, which are known only after the field is cut."""
    keys = item.keys
    assert keys.end is not None
    end = int(keys.end.total_seconds() // 60)
    start = end if keys.start is None else int(keys.start.total_seconds() // 60)
    stated = None if keys.stated_start is None else (int(keys.stated_start.total_seconds() // 60), end)
    packing = item.packing
    return VariableMeta(
        units=named.units,
        long_name=named.long_name,
        standard_name=named.standard_name,
        level=named.level,
        statistic=keys.statistic,
        step_minutes=(min(start, end), end),
        stated_minutes=stated,
        message=item.number,
        field=item.sub,
        offset=item.offset,
        length=item.length,
        packing=SourcePacking(name=packing.name, bits=packing.bits, step=packing.step),
        winds=winds,
        method=method,
        fill_values=named.fill.fill_values,
        valid_min=named.fill.valid_min,
        filled=filled,
        negated=named.negated,
        flag_values=named.flag_values,
        flag_meanings=named.flag_meanings,
        identity=field_identity(keys),
    )


def cell_statistic_meta(meta: VariableMeta, suffix: str) -> VariableMeta:
    """The metadata of one cell statistic, given the suffix of its name."""
    if not suffix:
        return meta
    return replace(meta, long_name=f"{meta.long_name}, {CELL_STATISTICS[suffix]}")


def cell_name(name: str, suffix: str, *, several: bool) -> str:
    """The name of a cell statistic: the mean is `t2m`, beside `t2m_min`; that of a daily maximum `t2m_max_mean`."""
    if several and not suffix and name.endswith(("_min", "_max")):
        return f"{name}_mean"
    return name + suffix


def skipped_message(name: str, item: Field, reason: str) -> SkippedMessage:
    """The note about a message that is left out."""
    return SkippedMessage(name=name, message=item.number, field=item.sub, offset=item.offset, reason=reason)


def describe_duplicate(before: Field, item: Field) -> str:
    """How a second field of the same name differs from the first."""
    where = f"message {before.label}"
    if before.keys != item.keys:
        return f"it has the same name as {where}, but another level, time range, member or threshold"
    if before.raw == item.raw or np.array_equal(before.values(), item.values(), equal_nan=True):
        return f"it is identical to {where}"
    return f"it has the same keys as {where}, but other values"


def _names(matches: Sequence[Match | None], keys: Sequence[Keys], choice: FieldChoice) -> list[str | None]:
    names = unique_names(matches, [one.window_minutes for one in keys])
    for place, (name, one) in enumerate(zip(names, keys, strict=True)):
        if name is not None and choice.wanted and name not in choice.wanted:
            names[place] = choice.wanted_name(name, one, [other for other in names if other])
    return names


@lru_cache(maxsize=64)
def _bases(names: frozenset[str]) -> frozenset[str]:
    return frozenset(base_name(name) for name in names)


def _by_member(items: Sequence[Field], groups: Sequence[Hashable | None]) -> list[list[list[int]]]:
    """Indices of the fields, by group and ensemble member, in the order of the file."""
    found: dict[Hashable, dict[Hashable, list[int]]] = {}
    for place, (item, group) in enumerate(zip(items, groups, strict=True)):
        if group is not None:
            keys = item.keys
            # A spread that the user has defined is a variable like the others.
            own = keys.spread and bool(lexicon().variants) and lexicon().match_keys(keys) is not None
            member = (keys.member, None if own else keys.derived)
            found.setdefault(group, {}).setdefault(member, []).append(place)
    return [list(members.values()) for members in found.values()]


def _other_variable(keys: Keys, taken: set[str]) -> Match | None:
    """Another variable that matches the field, if its usual name is taken by another message."""
    return next((one for one in lexicon().plain_matches(keys) if one.variable.name not in taken), None)


def _is_variant(keys: Keys) -> bool:
    """Whether it is a spread, a probability or a percentile instead of the quantity itself."""
    return keys.spread or keys.probability is not None or keys.percentile is not None


def _lexicon_names(item: Field) -> list[str]:
    """All names in the lexicon that match the field, the usual one first."""
    return [match.variable.name for match in lexicon().plain_matches(item.keys)]


def names_of(named: NamedField, keys: Keys) -> set[str]:
    """The name of a field, and its name with the length of the time range."""
    length = keys.window_minutes
    return {named.name, with_window(base_name(named.name), length)} if length else {named.name}


def lexicon_name(item: Field) -> str | None:
    """The lexicon's name for a field, regardless of other fields."""
    match = lexicon().match_keys(item.keys)
    return match.variable.name if match else None


def _named(keys: Keys, match: Match, name: str) -> NamedField:
    variable = match.variable if match.variable.name == name else lexicon().get(name) or match.variable
    level = level_text(keys.level, keys.level2)
    words = f"{variable.long_name}{OPPOSITE_SIGN}" if match.negated else variable.long_name
    named = NamedField(name, words, match.units, variable.standard_name, level, negated=match.negated)
    return _with_rules(named, variable, keys)


def _with_rules(named: NamedField, variable: Variable, keys: Keys) -> NamedField:
    """Adds the fill values and codes of the quantity. An ensemble mean of codes is not a code."""
    if _is_variant(keys):
        return named
    table = variable.code_table(keys.tables) if keys.derived is None else None
    codes = code_table(table) if table else CodeTable((), ())
    fill = FillRule(variable.fill_values(keys.tables), variable.valid_min)
    if not codes.values and not fill:
        return named
    return replace(named, fill=fill, flag_values=codes.values, flag_meanings=codes.meanings)


def _unknown(item: Field, taken: set[str], wanted: frozenset[str]) -> NamedField:
    """Names a field that is not in the lexicon by its GRIB keys, with a number if that is not unique."""
    keys = item.keys
    match = None if keys.selector else lexicon().match_quantity(keys)
    plain = array_name(keys)
    if keys.window_minutes and (plain in taken or plain not in wanted):
        longer = array_name_over_time(keys)
        plain = longer if plain in taken or longer in wanted else plain
    if plain in taken and keys.member is not None:
        plain = f"{plain}_m{keys.member:02d}"
    name, number = plain, 2
    while name in taken or name in RESERVED:
        name, number = f"{plain}_{number}", number + 1
    taken.add(name)
    quantity = (match.variable.long_name, match.units) if match else long_name(item)
    named = NamedField(name, *of_ensemble(*quantity, keys), None, level_text(keys.level, keys.level2))
    if match:
        return _with_rules(named, match.variable, keys)
    fill = mrms_fill_values(keys)
    return replace(named, fill=FillRule(fill)) if fill else named
