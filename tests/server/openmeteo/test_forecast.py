"""`/v1/forecast` as JSON and CSV: units, times, missing values, and errors in the original's shape."""

from __future__ import annotations

import csv
import zoneinfo
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from gribmill.catalogue.reads import Catalogue
from gribmill.identity import run_id
from gribmill.server.data.point_answer import PointSource
from gribmill.server.openmeteo.answer import place_answers
from gribmill.server.openmeteo.forecast_request import KEYS, forecast_request
from gribmill.server.openmeteo.hourly import hourly_values
from gribmill.server.openmeteo.variables import hourly_variable
from gribmill.settings.schema import Settings
from gribmill.storage.layout import DataRoot
from gribmill.tiles.read.point.kept_tiles import KeptTiles
from gribmill.tiles.read.point.point import PointRequest
from gribmill.tiles.read.point.series import Column, Series
from tests.server.data.forecast_root import HOURS, LAT, LON, RUN, SUM, WIND, fields, make_forecasts
from tests.server.live_server import serving
from tests.server.openmeteo.conftest import NOW
from tests.tiles.make_tile import HRRR, make_tile

PLACE = {"latitude": str(LAT), "longitude": str(LON)}
MORNING = datetime(2026, 11, 18, 9, 30, tzinfo=UTC)


def span(begin: datetime) -> dict[str, str]:
    return {"start_hour": f"{begin:%Y-%m-%dT%H:%M}", "end_hour": f"{begin + timedelta(hours=HOURS - 1):%Y-%m-%dT%H:%M}"}


def ask(client: httpx.Client, **parameters: Any) -> Any:
    answer = client.get("/v1/forecast", params={**PLACE, **parameters})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_response_has_the_format_of_the_original_and_names_its_run(client: httpx.Client, begin: datetime) -> None:
    found = ask(client, hourly="temperature_2m,precipitation", **span(begin))
    assert {"latitude", "longitude", "generationtime_ms", "utc_offset_seconds", "timezone", "elevation"} <= found.keys()
    assert found["hourly_units"] == {"time": "iso8601", "temperature_2m": "°C", "precipitation": "mm"}
    assert found["hourly"]["time"][0] == f"{begin:%Y-%m-%dT%H:%M}"
    assert len(found["hourly"]["temperature_2m"]) == HOURS
    assert found["hourly"]["precipitation"] == [None, 0.5, 1.5, 2.5, 3.5, 4.5, 5.5]
    facts = found["gribmill"]
    assert (facts["model"], facts["run"], facts["complete"]) == ("hrrr", run_id(begin), True)
    assert (facts["hours"], facts["hours_expected"], facts["elevation_known"]) == (HOURS, HOURS, False)
    assert facts["built_at"] is not None


def test_units_can_be_chosen(client: httpx.Client, begin: datetime) -> None:
    names = {"hourly": "temperature_2m,wind_speed_10m,precipitation,surface_pressure", **span(begin)}
    metric = ask(client, **names)["hourly"]
    other = ask(client, **names, temperature_unit="fahrenheit", wind_speed_unit="kn", precipitation_unit="inch")
    assert list(other["hourly_units"].values()) == ["iso8601", "°F", "kn", "inch", "hPa"]
    for name, factor, offset, exact in (
        ("temperature_2m", 1.8, 32.0, 0.2),
        ("wind_speed_10m", 1 / 1.852, 0.0, 0.1),
        ("precipitation", 1 / 25.4, 0.0, 0.001),
        ("surface_pressure", 1.0, 0.0, 0.0),
    ):
        for one, another in zip(metric[name], other["hourly"][name], strict=True):
            assert (one is None) == (another is None)
            if one is not None:
                assert another == pytest.approx(one * factor + offset, abs=exact)


def test_unavailable_variables_and_missing_hours_are_null(client: httpx.Client, begin: datetime) -> None:
    found = ask(client, hourly="uv_index,dew_point_2m,relative_humidity_2m,temperature_500hPa", **span(begin))
    assert found["hourly"]["uv_index"] == [None] * HOURS
    assert found["hourly_units"]["uv_index"] == found["hourly_units"]["temperature_500hPa"] == "undefined"
    assert [value is None for value in found["hourly"]["dew_point_2m"]] == [hour == 3 for hour in range(HOURS)]
    humidity = found["hourly"]["relative_humidity_2m"]
    assert [value is None for value in humidity] == [hour == 3 for hour in range(HOURS)]
    assert all(value is None or 0 < value <= 100 for value in humidity)


def test_hours_outside_the_forecast_are_null_and_a_day_needs_all_its_hours(client: httpx.Client) -> None:
    found = ask(client, hourly="temperature_2m", daily="temperature_2m_max,sunrise", forecast_days=1, timezone="GMT")
    assert len(found["hourly"]["time"]) == 24
    assert sum(value is not None for value in found["hourly"]["temperature_2m"]) <= HOURS
    assert found["daily"]["temperature_2m_max"] == [None]
    assert found["daily_units"] == {"time": "iso8601", "temperature_2m_max": "°C", "sunrise": "iso8601"}


def test_several_places_are_a_list_and_several_models_have_separate_columns(
    client: httpx.Client, begin: datetime
) -> None:
    places = {"latitude": f"{LAT},42.0", "longitude": f"{LON},-71.5"}
    found = ask(client, **places, hourly="temperature_2m", models="gfs_hrrr,gfs", timeformat="unixtime", **span(begin))
    assert [one.get("location_id", 0) for one in found] == [0, 1]
    assert {*found[0]["hourly"]} == {"time", "temperature_2m_gfs_hrrr", "temperature_2m_gfs"}
    assert found[0]["hourly"]["time"][0] == int(begin.timestamp())
    assert found[0]["hourly"]["temperature_2m_gfs"] != found[0]["hourly"]["temperature_2m_gfs_hrrr"]


def test_hours_before_the_run_come_from_earlier_runs(tmp_path: Path) -> None:
    begin = NOW.replace(minute=0) - timedelta(hours=6)
    for shift in (0, 1, 2):
        make_forecasts(tmp_path, run_id(begin + timedelta(hours=shift)), hours=5)
    with serving(Settings(data=tmp_path)) as server, server.client() as client:
        found = ask(client, hourly="temperature_2m,precipitation", models="hrrr", **span(begin))["hourly"]
        newest = ask(client, hourly="temperature_2m", models="hrrr", **span(begin))["gribmill"]
    assert newest["run"] == run_id(begin + timedelta(hours=2))
    assert None not in found["temperature_2m"]
    # The first hour of a run has no amount, so the previous run's is used.
    assert found["precipitation"] == [None, 0.5, 0.5, 0.5, 1.5, 2.5, 3.5]


def test_rain_and_fresh_snow_are_computed_from_the_water_of_snow(tmp_path: Path) -> None:
    begin = NOW.replace(minute=0) - timedelta(hours=2)
    for hour, (total, snow, showers) in enumerate([(0.0, 0.0, 0.0), (5.0, 2.0, 1.0), (8.0, 5.5, 1.0)]):
        made = fields(HRRR, hour)
        for name, value in (("tp", total), ("sf", snow), ("cp", showers)):
            made[name] = (value, {**SUM, "step_minutes": (0, 60 * hour)})
        make_tile(tmp_path, made, run=run_id(begin), minutes=60 * hour)
    hours = {"start_hour": f"{begin:%Y-%m-%dT%H:%M}", "end_hour": f"{begin + timedelta(hours=2):%Y-%m-%dT%H:%M}"}
    with serving(Settings(data=tmp_path)) as server, server.client() as client:
        found = ask(client, hourly="rain,showers,snowfall", models="hrrr", **hours)
        inches = ask(client, hourly="rain,snowfall", models="hrrr", precipitation_unit="inch", **hours)
    assert found["hourly_units"] == {"time": "iso8601", "rain": "mm", "showers": "mm", "snowfall": "cm"}
    assert found["hourly"]["rain"] == [None, 2.0, 0.0]
    assert (found["hourly"]["showers"], found["hourly"]["snowfall"]) == ([None, 1.0, 0.0], [None, 1.4, 2.45])
    assert inches["hourly"]["rain"][1:] == [round(2 / 25.4, 3), 0.0]
    assert inches["hourly"]["snowfall"][1:] == [round(1.4 / 2.54, 3), round(2.45 / 2.54, 3)]


def test_sunrise_and_sunset_need_no_forecast(client: httpx.Client) -> None:
    names = {"hourly": "is_day,rain", "daily": "sunrise,sunset,daylight_duration", "timezone": "America/New_York"}
    found = ask(client, **names, start_date="2026-06-21", end_date="2026-06-21")
    assert found["daily_units"] == {
        "time": "iso8601", "sunrise": "iso8601", "sunset": "iso8601", "daylight_duration": "s",
    }  # fmt: skip
    assert (found["hourly_units"]["is_day"], found["hourly_units"]["rain"]) == ("", "undefined")
    assert sum(found["hourly"]["is_day"]) == pytest.approx(found["daily"]["daylight_duration"][0] / 3600, abs=1)
    other = ask(client, **names, start_date="2026-06-21", end_date="2026-06-21", timeformat="unixtime")
    rise, down = other["daily"]["sunrise"][0], other["daily"]["sunset"][0]
    assert (other["daily_units"]["sunrise"], down - rise) == (
        "unixtime", pytest.approx(found["daily"]["daylight_duration"][0], abs=1),
    )  # fmt: skip
    local = datetime.fromtimestamp(rise + found["utc_offset_seconds"], UTC)
    assert found["daily"]["sunrise"] == [f"{local:%Y-%m-%dT%H:%M}"]
    text = client.get("/v1/forecast", params={**PLACE, "daily": "sunrise", "format": "csv", "forecast_days": "1"}).text
    assert "time,sunrise (iso8601)" in text


def test_run_that_appears_meanwhile_is_not_mixed_in(tmp_path: Path) -> None:
    begin = NOW.replace(minute=0) - timedelta(hours=3)
    for hour in range(3):
        make_tile(tmp_path, fields(HRRR, hour), run=run_id(begin), minutes=60 * hour)
    root = DataRoot(tmp_path)
    with serving(Settings(data=tmp_path)) as server:
        source = PointSource(KeptTiles(root, 2**20), Catalogue(server.store.database), wait=True)
        base = PointRequest(root)
        wanted = PLACE | {"hourly": "precipitation", "models": "hrrr"} | span(begin)
        request = forecast_request([*wanted.items()], NOW)
        assert source.source.candidates(PointRequest(root, model="hrrr", units="common"))
        make_tile(tmp_path, fields(HRRR, 0), run=run_id(begin + timedelta(hours=1)), minutes=0)
        ((answer,),) = place_answers(source, request, base)
    assert answer.facts["run"] == run_id(begin)
    assert sum(value > 0 for value in answer.sections[0].columns[0].values) == 2


def test_current_values_are_of_the_quarter_of_an_hour(client: httpx.Client, begin: datetime) -> None:
    found = ask(client, current="temperature_2m,precipitation,is_day", minutely_15="temperature_2m,precipitation")
    current, quarters = found["current"], found["minutely_15"]
    assert (current["interval"], found["current_units"]["interval"]) == (900, "seconds")
    row = quarters["time"].index(current["time"])
    for name in ("temperature_2m", "precipitation"):
        assert current[name] == quarters[name][row] is not None


def test_current_weather_has_the_names_of_earlier_versions(client: httpx.Client) -> None:
    found = ask(client, current_weather="True", current="cloud_cover", wind_speed_unit="ms")
    now = ask(client, current="temperature_2m,wind_speed_10m,wind_direction_10m,is_day", wind_speed_unit="ms")[
        "current"
    ]
    assert "current" not in found
    assert list(found["current_weather"].values()) == [*now.values(), None]
    assert found["current_weather_units"] == {
        "time": "iso8601", "interval": "seconds", "temperature": "°C", "windspeed": "m/s", "winddirection": "°",
        "is_day": "", "weathercode": "undefined",
    }  # fmt: skip


def test_csv_has_the_place_and_a_table_for_each_section(client: httpx.Client, begin: datetime) -> None:
    answer = client.get("/v1/forecast", params={**PLACE, "hourly": "precipitation", "format": "csv", **span(begin)})
    assert answer.headers["content-type"].startswith("text/csv")
    place, hourly = answer.text.split("\n\n")
    (row,) = csv.DictReader(place.splitlines())
    assert float(row["latitude"]) == pytest.approx(LAT, abs=0.02)
    assert (row["timezone"], row["elevation"]) == ("GMT", "NaN")
    rows = list(csv.DictReader(hourly.splitlines()))
    assert [one["precipitation (mm)"] for one in rows] == ["NaN", "0.5", "1.5", "2.5", "3.5", "4.5", "5.5"]


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ({**PLACE, "elevation": "1e300", "format": "flatbuffers"}, "Elevation must be in range"),
        ({"latitude": "42"}, "required for key 'longitude'"),
        ({"latitude": "x", "longitude": "1"}, "Value of type 'Float' required for key 'latitude'"),
        ({"latitude": "nan", "longitude": "1"}, "required for key 'latitude'"),
        ({"latitude": "95", "longitude": "1"}, "Latitude must be in range of -90 to 90°. Given: 95."),
        ({"latitude": "1,2", "longitude": "1"}, "must have the same number of elements"),
        ({**PLACE, "hourly": "temperature"}, "invalid String value temperature for key hourly"),
        ({**PLACE, "daily": "temperature_2m_sum"}, "invalid String value temperature_2m_sum for key daily"),
        ({**PLACE, "temperature_unit": "kelvin"}, "invalid String value kelvin for key temperature_unit"),
        ({**PLACE, "forecast_days": "17"}, "out of allowed range from 0 to 16. Given 17."),
        ({**PLACE, "forecast_days": "-1"}, "Value of type 'Int' required"),
        ({**PLACE, "timezone": "Mars/Base"}, "Invalid timezone"),
        ({**PLACE, "format": "xlsx"}, "format=xlsx is not supported"),
        ({**PLACE, "models": "../x"}, "invalid String value ../x for key models"),
        ({**PLACE, "start_date": "2026-13-01", "end_date": "2026-12-01"}, "Invalid date format"),
        ({**PLACE, "start_date": "2020-01-01", "end_date": "2026-12-01"}, "at most 108 days"),
        ({**PLACE, "start_date": "2026-12-02", "end_date": "2026-12-01"}, "before its beginning"),
        ({**PLACE, "start_date": "2026-12-01", "end_date": "2026-12-01", "past_days": "2"}, "mutually exclusive"),
        ({**PLACE, "start_minutely_15": "2026-12-01T00:00"}, "'end_minutely_15' must be a time"),
        ({**PLACE, "forecast_minutely_15": "1537"}, "out of allowed range from 0 to 1536. Given 1537."),
        ({**PLACE, "hourly": "cape", "models": "ifs"}, "there are no tiles of ifs"),
        ({"latitude": "0", "longitude": "0", "hourly": "cape"}, "No data is available for this location"),
        ({**PLACE, "tilt": "3"}, "'tilt' is not a parameter"),
        ({"latitude": ",".join(["1"] * 501), "longitude": ",".join(["1"] * 501)}, "501 places are more than 500"),
        ({**PLACE, "minutely_15": "capes"}, "invalid String value capes for key minutely_15"),
        ({**PLACE, "current_weather": "maybe"}, "type 'Bool' required for key 'current_weather'"),
    ],
)
def test_invalid_requests_are_refused_with_a_reason(client: httpx.Client, query: dict[str, str], reason: str) -> None:
    answer = client.get("/v1/forecast", params=query)
    assert answer.status_code == 400
    assert answer.json()["error"] is True
    assert reason in answer.json()["reason"]


def test_unknown_time_zone_is_refused_without_listing_all(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(zoneinfo, "available_timezones")
    refused = client.get("/v1/forecast", params={**PLACE, "timezone": "Mars/Base"})
    assert (refused.status_code, refused.json()["reason"]) == (400, "Invalid timezone")


@pytest.mark.parametrize(
    ("query", "begin", "hours"),
    [
        ({}, "2026-11-18T00:00", 168),
        ({"forecast_days": "1", "past_days": "2"}, "2026-11-16T00:00", 72),
        ({"timezone": "America/New_York", "forecast_days": "1"}, "2026-11-18T05:00", 24),
        ({"timezone": "Asia/Kolkata", "forecast_days": "1"}, "2026-11-17T19:00", 24),
        ({"timezone": "auto", "forecast_days": "1"}, "2026-11-18T05:00", 24),
        # Summer time ended on 1 November: the whole response has the current offset, as in the original.
        ({"timezone": "auto", "start_date": "2026-10-31", "end_date": "2026-11-02"}, "2026-10-31T05:00", 72),
        ({"forecast_hours": "6"}, "2026-11-18T09:00", 6),
        ({"past_hours": "2", "forecast_hours": "3"}, "2026-11-18T07:00", 5),
        ({"start_date": "2026-11-17", "end_date": "2026-11-17"}, "2026-11-17T00:00", 24),
    ],
)
def test_times_begin_at_midnight_of_the_time_zone(query: dict[str, str], begin: str, hours: int) -> None:
    (period,) = forecast_request([*{**PLACE, **query}.items()], MORNING).periods
    assert datetime.fromtimestamp(period.hours.start, UTC).strftime("%Y-%m-%dT%H:%M") == begin
    assert len(period.hours) == hours


@pytest.mark.parametrize(
    ("query", "days", "hours", "quarters"),
    [
        ({}, ("18T00:00", 7), ("18T00:00", 168), ("18T00:00", 288)),
        ({"forecast_days": "2"}, ("18T00:00", 2), ("18T00:00", 48), ("18T00:00", 192)),
        ({"forecast_hours": "6"}, ("18T00:00", 7), ("18T09:00", 6), ("18T00:00", 288)),
        ({"forecast_hours": "6", "forecast_days": "3"}, ("18T00:00", 3), ("18T09:00", 6), ("18T00:00", 288)),
        ({"past_minutely_15": "1", "forecast_minutely_15": "4"}, ("18T00:00", 7), ("18T00:00", 168), ("18T09:15", 5)),
        ({"timezone": "Asia/Kathmandu", "forecast_days": "1"}, ("17T18:15", 1), ("17T19:00", 24), ("17T18:15", 96)),
        (
            {"start_date": "2026-11-17", "end_date": "2026-11-18", "start_hour": "2026-11-17T06:00",
             "end_hour": "2026-11-17T08:00"},
            ("17T00:00", 2), ("17T06:00", 3), ("17T06:00", 12),
        ),
        (
            {"start_minutely_15": "2026-11-17T23:30", "end_minutely_15": "2026-11-18T00:15"},
            ("17T00:00", 2), ("18T00:00", 1), ("17T23:30", 4),
        ),
    ],
)  # fmt: skip
def test_each_section_has_its_own_times(
    query: dict[str, str], days: tuple[str, int], hours: tuple[str, int], quarters: tuple[str, int]
) -> None:
    (period,) = forecast_request([*{**PLACE, **query}.items()], MORNING).periods

    def shown(times: range) -> tuple[str, int]:
        return f"{datetime.fromtimestamp(times.start, UTC):%dT%H:%M}", len(times)

    assert (shown(period.days), shown(period.hours), shown(period.quarters)) == (days, hours, quarters)


def series_of(steps: tuple[int, ...], column: Column) -> Series:
    return Series("gfs", "20261118_00", "x", 0, 0, 0, 0, 0, "nearest", steps, {column.name: column})


def hours_of(steps: tuple[int, ...], column: Column) -> dict[int, float]:
    start = int(datetime(2026, 11, 18, tzinfo=UTC).timestamp())
    return {
        (moment - start) // 3600: value for moment, value in hourly_values(series_of(steps, column), column).items()
    }


def test_longer_sums_are_spread_over_their_hours_and_shorter_ones_added_up() -> None:
    rain = Column("tp", "", "mm", (6.0, float("nan"), 1.5), ((0, 180), None, (360, 540)), "accum")
    assert hours_of((180, 360, 540), rain) == {1: 2.0, 2: 2.0, 3: 2.0, 7: 0.5, 8: 0.5, 9: 0.5}
    quarters = Column("tp", "", "mm", (1.0, 2.0, 3.0, 4.0, 9.0), tuple((n, n + 15) for n in range(0, 75, 15)), "accum")
    assert hours_of((15, 30, 45, 60, 75), quarters) == {1: 10.0}
    mean = Column("dswrf_avg", "", "W m-2", (300.0,), ((0, 120),), "avg")
    assert hours_of((120,), mean) == {1: 300.0, 2: 300.0}


def test_steps_of_three_hours_are_interpolated_and_missing_hours_are_not() -> None:
    direction = Column("wdir10", "", "°", (350.0, 20.0, 50.0), None)
    assert hours_of((0, 180, 360), direction)[1] == pytest.approx(360.0)
    assert hours_of((0, 180, 360), direction)[2] == pytest.approx(10.0)
    hourly = Column("t2m", "", "K", (1.0, 2.0, 4.0, 5.0), None)
    assert hours_of((0, 60, 180, 240), hourly) == {0: 1.0, 1: 2.0, 3: 4.0, 4: 5.0}
    lacking = Column("t2m", "", "K", (1.0, float("nan"), 3.0), None)
    assert hours_of((0, 60, 120), lacking) == {0: 1.0, 2: 3.0}


def test_each_place_has_its_own_time_zone_with_auto() -> None:
    places = {"latitude": "42.36,28.6,0.0", "longitude": "-71.06,77.2,-160.0", "timezone": "auto"}
    periods = forecast_request([*places.items()], MORNING).periods
    assert [(one.zone, one.offset) for one in periods] == [
        ("America/New_York", -18000),
        ("Asia/Kolkata", 19800),
        ("Etc/GMT+11", -39600),
    ]


def test_quarter_hours_are_taken_from_tiles_or_interpolated() -> None:
    start = int(datetime(2026, 11, 18, tzinfo=UTC).timestamp())

    def quarters_of(steps: tuple[int, ...], column: Column) -> dict[int, float]:
        found = hourly_values(series_of(steps, column), column, 900)
        return {(moment - start) // 60: value for moment, value in found.items()}

    assert quarters_of((0, 60), Column("t2m", "", "K", (280.0, 284.0), None)) == {
        0: 280.0, 15: 281.0, 30: 282.0, 45: 283.0, 60: 284.0,
    }  # fmt: skip
    finer = Column("t2m", "", "K", (1.0, 7.0, 2.0, 3.0, 4.0), None)
    assert quarters_of((0, 15, 30, 45, 60), finer) == {0: 1.0, 15: 7.0, 30: 2.0, 45: 3.0, 60: 4.0}
    rain = Column("tp", "", "mm", (float("nan"), 2.0), (None, (0, 60)), "accum")
    assert quarters_of((0, 60), rain) == {15: 0.5, 30: 0.5, 45: 0.5, 60: 0.5}


def test_daily_values_cover_24_local_hours_and_are_null_if_one_is_missing(tmp_path: Path) -> None:
    # From 03 UTC on, the day of Kolkata (18:30 to 18:30) is complete; that of UTC is not.
    begin = datetime(2026, 9, 1, 18, tzinfo=UTC)
    make_forecasts(tmp_path, run_id(begin), hours=28)
    day = {"start_date": "2026-09-02", "end_date": "2026-09-02", "models": "hrrr"}
    with serving(Settings(data=tmp_path)) as server, server.client() as client:
        found = ask(client, hourly="temperature_2m", daily="temperature_2m_max", timezone="Asia/Kolkata", **day)
        utc = ask(client, daily="temperature_2m_max,precipitation_sum", **day)
    assert found["hourly"]["time"][0] == "2026-09-02T00:30"
    assert found["daily"]["time"] == ["2026-09-02"]
    assert found["daily"]["temperature_2m_max"] == [max(found["hourly"]["temperature_2m"])]
    assert utc["daily"]["temperature_2m_max"] == [None]


def test_dominant_direction_is_that_of_the_mean_wind_and_hours_with_precipitation_are_counted(tmp_path: Path) -> None:
    run = datetime(2026, 8, 31, 18, tzinfo=UTC)
    for hour in range(31):
        # For 16 hours of the day a light wind from the east, for eight a strong one from the south.
        east, north = (-1.0, 0.0) if hour < 22 else (0.0, 10.0)
        total = 0.004 * hour if hour < 26 else 0.1 + 0.5 * (hour - 25)
        made = {**fields(HRRR, hour), "u10": (east, WIND), "v10": (north, WIND)}
        made["tp"] = (total, {**SUM, "step_minutes": (0, 60 * hour)})
        make_tile(tmp_path, made, run=run_id(run), minutes=60 * hour)
    day = {"start_date": "2026-09-01", "end_date": "2026-09-01", "models": "hrrr", "precipitation_unit": "inch"}
    with serving(Settings(data=tmp_path)) as server, server.client() as client:
        found = ask(client, daily="wind_direction_10m_dominant,winddirection_10m_dominant,precipitation_hours", **day)
    assert found["daily_units"]["precipitation_hours"] == "h"
    assert found["daily"]["precipitation_hours"] == [4.0]
    for name in ("wind_direction_10m_dominant", "winddirection_10m_dominant"):
        assert found["daily"][name] == [pytest.approx(169, abs=1)]


@pytest.mark.parametrize(
    ("section", "names"),
    [
        ("hourly", "soil_temperature_0_to_10cm,soil_moisture_0_1cm,wind_speed_140m,temperature_180m,latent_heat_flux"),
        ("hourly", "terrestrial_radiation_instant,wet_bulb_temperature_2m,vapor_pressure_deficit,weathercode"),
        ("daily", "sunshine_duration,et0_fao_evapotranspiration,et0_fao_evapotranspiration_sum,uv_index_max"),
        ("daily", "weather_code,precipitation_probability_max,leaf_wetness_probability_mean,updraft_max,moonset"),
    ],
)  # fmt: skip
def test_known_variables_that_no_tile_has_are_null(client: httpx.Client, section: str, names: str) -> None:
    found = ask(client, **{section: names}, forecast_days=1)
    for name in names.split(","):
        assert (found[f"{section}_units"][name], {*found[section][name]}) == ("undefined", {None})


@pytest.mark.parametrize(
    ("old", "new"),
    [("windspeed_850hPa", "wind_speed_850hPa"), ("dewpoint_2m", "dew_point_2m"), ("cloudcover", "cloud_cover"),
     ("relativehumidity_500hPa", "relative_humidity_500hPa"), ("windgusts_10m", "wind_gusts_10m")],
)  # fmt: skip
def test_names_of_earlier_versions_are_the_same_variables(old: str, new: str) -> None:
    assert replace(hourly_variable(old, "hourly"), name=new) == hourly_variable(new, "hourly")


def test_elevation_adjusts_the_temperature_if_the_models_is_known(tmp_path: Path) -> None:
    values = {**fields(HRRR, 0), "t2m": (281.15, {}), "orog": (100.0, {"units": "m", "long_name": "Orography"})}
    make_tile(tmp_path, values, run=RUN, minutes=0)
    span = {"start_hour": "2026-09-01T12:00", "end_hour": "2026-09-01T12:00", "hourly": "temperature_2m"}
    with serving(Settings(data=tmp_path)) as server, server.client() as client:
        there, higher, off = (ask(client, **span, **more) for more in ({}, {"elevation": 1100}, {"elevation": "nan"}))
    assert (there["elevation"], there["hourly"]["temperature_2m"]) == (100.0, [8.0])
    assert (higher["elevation"], higher["hourly"]["temperature_2m"]) == (1100.0, [1.5])
    assert off["hourly"]["temperature_2m"] == [8.0]


def test_every_parameter_is_described(client: httpx.Client) -> None:
    operation = client.get("/api/openapi.json").json()["paths"]["/v1/forecast"]["get"]
    assert {one["name"] for one in operation["parameters"]} == KEYS
