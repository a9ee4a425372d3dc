"""The forecast at a place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from pydantic import ConfigDict

from gribmill.views.view import View

if TYPE_CHECKING:
    from gribmill.tiles.read.point.series import Series


class PlaceView(View):
    """The place that was asked for."""

    lat: float
    lon: float


class GridPointView(PlaceView):
    """The nearest grid point, and how far away it is."""

    distance_km: float


class PointHourView(View):
    """One hour: its valid time, and the value of each variable under its name; null where it is missing."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, float | None]

    hour: int | float
    time: str


class PointView(View):
    """A point forecast. `units` are by variable.

    Of sums, means and extremes, `intervals` are the hours that each row stands for, and `window_minutes` their start
    and end in minutes since the run; null where there is no value.
    `flags` are the meanings of codes, by variable and value.
    """

    model: str
    run: str
    region: str
    place: PlaceView
    point: GridPointView
    method: str
    units: dict[str, str]
    intervals: dict[str, tuple[float, ...]]
    window_minutes: dict[str, tuple[tuple[int, int] | None, ...]]
    flags: dict[str, dict[str, str]]
    hours: tuple[PointHourView, ...]
    notes: tuple[str, ...]
    attribution: str | None

    @classmethod
    def of(cls, series: Series) -> Self:
        return cls.model_validate(series.to_dict())
