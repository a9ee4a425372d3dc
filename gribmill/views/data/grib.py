"""The contents of GRIB files."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Self

from gribmill.views.view import ForecastTime, View

if TYPE_CHECKING:
    from gribmill.grib.inventory import InventoryEntry, Stats


class GribStatsView(View):
    """Statistics of a field's values; null where all of them are missing."""

    min: float | None
    mean: float | None
    max: float | None
    missing: int

    @classmethod
    def of(cls, stats: Stats) -> Self:
        low, mean, high = (None if math.isnan(n) else n for n in (stats.minimum, stats.mean, stats.maximum))
        return cls(min=low, mean=mean, max=high, missing=stats.missing)


class GribFieldView(View):
    """One field. `damaged` says why it cannot be read; most other keys are then null."""

    number: str
    offset: int
    length: int | None
    edition: int | None
    name: str | None
    parameter: tuple[int, ...] | None
    units: str | None
    level: str | None
    reference: ForecastTime | None
    step: str | None
    grid: str | None
    packing: str | None
    bits: int | None
    stats: GribStatsView | None
    damaged: str | None
    short_name: str | None
    identity: dict[str, str | int | float] | None

    @classmethod
    def of(cls, entry: InventoryEntry) -> Self:
        return cls(
            number=entry.number,
            offset=entry.offset,
            length=entry.length,
            edition=entry.edition,
            name=entry.name,
            parameter=entry.parameter,
            units=entry.units,
            level=entry.level,
            reference=entry.reference,
            step=entry.step,
            grid=entry.grid,
            packing=entry.packing,
            bits=entry.bits,
            stats=GribStatsView.of(entry.stats) if entry.stats else None,
            damaged=entry.reason,
            short_name=entry.short_name,
            identity=entry.identity,
        )


class GribFileView(View):
    """One file and its fields. `error` says why it cannot be read at all."""

    file: str
    error: str | None
    fields: tuple[GribFieldView, ...]

    @classmethod
    def of(cls, path: Path, error: str | None, entries: Iterable[InventoryEntry]) -> Self:
        return cls(file=str(path), error=error, fields=tuple(GribFieldView.of(entry) for entry in entries))
