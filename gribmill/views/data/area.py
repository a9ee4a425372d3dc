"""Statistics of an area."""

from __future__ import annotations

from gribmill.views.view import ForecastTime, Time, View


class AreaStatisticsView(View):
    """One variable at one hour over the points of the area; null where all of them are missing.

    `window_minutes` is the time range of a sum, mean or extreme in minutes since the start of the run, as encoded in
    its message; null for an instant.
    """

    min: float | None
    max: float | None
    mean: float | None
    percentiles: dict[str, float | None]
    points: int
    missing: int
    window_minutes: tuple[int, int] | None


class AreaHourView(View):
    """One hour of an area. Variables that are missing at this hour are null."""

    hour: float
    time: ForecastTime
    variables: dict[str, AreaStatisticsView | None]


class AreaView(View):
    """The statistics of an area, hour by hour. On latitude-longitude grids the mean is weighted by cell area."""

    model: str
    run: str
    region: str
    box: tuple[float, float, float, float]
    points: int
    complete: bool | None
    hours_here: int
    hours_expected: int | None
    ingested_at: Time | None
    built_at: Time | None
    units: dict[str, str]
    hours: tuple[AreaHourView, ...]
    notes: tuple[str, ...]
    attribution: str | None
