"""The metadata of one field in a tile's `meta`."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from gribmill.grib.decode.field import Field
from gribmill.grib.product.keys import field_identity
from gribmill.tiles.build.choose_names import NamedField
from gribmill.tiles.format.meta import SkippedMessage, SourcePacking, VariableMeta

CELL_STATISTICS = {"_min": "minimum in the cell", "_max": "maximum in the cell"}


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
