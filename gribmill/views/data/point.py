"""The forecast at a place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from pydantic import ConfigDict

from gribmill.views.view import Time, View

if TYPE_CHECKING:
    from gribmill.tiles.read.point.series import Series


class PlaceView(View):
    """The requested place."""

    name: str | None
    lat: float
    lon: float


class GridPointView(View):
    """The nearest grid point, and how far away it is."""

    lat: float
    lon: float
    distance_km: float


class PointHourView(View):
    """One hour: its valid time, and the value of each variable under its name; null where it is missing."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, float | None]

    hour: int | float
    time: str
    run: str


class DayValueView(View):
    """One variable on one day: extremes, or the total of an amount. `whole` is false if hours are missing."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, float | None]

    whole: bool


class PointDayView(View):
    """One local day: how many of its hours the forecast covers, and each variable under its name."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, DayValueView]

    day: str
    hours: float
    day_hours: float
    whole: bool


class RunChoiceView(View):
    """Which run was requested, and how much of it is available."""

    asked: str
    complete: bool | None
    hours: int
    hours_expected: int | None
    newer_run: str | None
    sentence: str


class PointView(View):
    """A point forecast. `units` are by variable.

    For sums, means and extremes, `intervals` are the hours that each row covers, and `window_minutes` their start and
    end in minutes since the start of the run; null where there is no value.
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
    run_choice: RunChoiceView | None
    timezone: str
    days: tuple[PointDayView, ...] | None

    @classmethod
    def of(cls, series: Series, *, daily: bool = False) -> Self:
        return cls.model_validate({**series.to_dict(), "days": series.daily().to_list() if daily else None})


class PointAnswerView(PointView):
    """A point forecast over HTTP, with the times at which the newest file of the run was downloaded and built."""

    ingested_at: Time | None
    built_at: Time | None
