"""What a tile's `meta` says about one field."""

from __future__ import annotations

from typing import Literal

import numpy as np

from gribmill.grib.decode.field import Field
from gribmill.tiles.build.choose_names import Named
from gribmill.tiles.format.meta import Packing, Quantity, Skipped


def facts_of(named: Named, item: Field, winds: Literal["earth", "grid"] | None, method: str | None) -> Quantity:
    """What is known before the field is cut: everything but the statistics."""
    keys = item.keys
    assert keys.end is not None
    end = int(keys.end.total_seconds() // 60)
    start = end if keys.start is None else int(keys.start.total_seconds() // 60)
    packing = item.packing
    return Quantity(
        units=named.units,
        long_name=named.long_name,
        standard_name=named.standard_name,
        level=named.level,
        statistic=keys.statistic,
        step_minutes=(min(start, end), end),
        message=item.number,
        field=item.sub,
        offset=item.offset,
        length=item.length,
        packing=Packing(name=packing.name, bits=packing.bits, step=packing.step),
        winds=winds,
        method=method,
    )


def of_cell(facts: Quantity, suffix: str) -> Quantity:
    """The facts of one statistic of the cells."""
    words = {"_min": "least in the cell", "_max": "greatest in the cell"}
    return facts.model_copy(update={"long_name": f"{facts.long_name}, {words[suffix]}"}) if suffix else facts


def cell_name(name: str, suffix: str, *, several: bool) -> str:
    """`t2m` is the mean of a cell beside `t2m_min` and `t2m_max`; the day's highest is then `t2m_max_mean`."""
    if several and not suffix and name.endswith(("_min", "_max")):
        return f"{name}_mean"
    return name + suffix


def skip(name: str, item: Field, reason: str) -> Skipped:
    """The note about a message that is left out."""
    return Skipped(name=name, message=item.number, field=item.sub, offset=item.offset, reason=reason)


def comparison(before: Field, item: Field) -> str:
    """How a second field of one name differs from the first."""
    where = f"message {before.label}"
    if before.keys != item.keys:
        return f"it has the same name as {where}, but another level, window, member or threshold"
    if before.raw == item.raw or np.array_equal(before.values(), item.values(), equal_nan=True):
        return f"it is the same as {where}"
    return f"it says it is the same as {where}, but has other values"
