"""Programs written for Open-Meteo work with this server after changing only the host."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import openmeteo_requests
import pytest
from openmeteo_requests.Client import OpenMeteoRequestsError
from openmeteo_sdk.Aggregation import Aggregation
from openmeteo_sdk.Model import Model
from openmeteo_sdk.Unit import Unit
from openmeteo_sdk.Variable import Variable

import gribmill
from tests.server.data.forecast_root import HOURS, LAT, LON
from tests.server.live_server import LiveServer

HOURLY = ["temperature_2m", "dew_point_2m", "wind_speed_10m", "wind_direction_10m", "precipitation", "cloud_cover"]


def asked(server: LiveServer, **parameters: Any) -> Any:
    place = {"latitude": LAT, "longitude": LON}
    return openmeteo_requests.Client().weather_api(f"{server.url}/v1/forecast", {**place, **parameters})


def contents(answer: Any) -> list[Any]:
    """The place and all values of a response."""
    sections = (answer.Current(), answer.Hourly(), answer.Daily())
    columns = [one.Variables(number) for one in sections for number in range(one.VariablesLength())]
    values = [(one.Value(), one.ValuesAsNumpy(), one.ValuesInt64AsNumpy()) for one in columns]
    with np.printoptions(threshold=10_000):
        return [answer.Latitude(), answer.Longitude(), *map(repr, values)]


def span(begin: datetime) -> dict[str, str]:
    return {"start_hour": f"{begin:%Y-%m-%dT%H:%M}", "end_hour": f"{begin + timedelta(hours=HOURS - 1):%Y-%m-%dT%H:%M}"}


def test_openmeteo_requests_reads_the_values_of_point(
    forecast_server: LiveServer, forecast_root: Path, begin: datetime
) -> None:
    (found,) = asked(forecast_server, hourly=HOURLY, models="gfs_hrrr", **span(begin))
    series = gribmill.point(LAT, LON, data=forecast_root, units="common", model="hrrr")
    assert found.Latitude() == pytest.approx(series.point_lat, abs=1e-5)
    assert (found.Model(), found.Timezone(), found.UtcOffsetSeconds()) == (Model.gfs_hrrr, b"GMT", 0)
    assert np.isnan(found.Elevation())
    hourly = found.Hourly()
    assert (hourly.Time(), hourly.Interval()) == (int(begin.timestamp()), 3600)
    assert hourly.TimeEnd() - hourly.Time() == 3600 * HOURS
    expected = {
        "t2m": (Variable.temperature, Unit.celsius, 2, 1.0, -273.15),
        "d2m": (Variable.dew_point, Unit.celsius, 2, 1.0, -273.15),
        "ws10": (Variable.wind_speed, Unit.kilometres_per_hour, 10, 3.6, 0.0),
        "wdir10": (Variable.wind_direction, Unit.degree_direction, 10, 1.0, 0.0),
        "tp": (Variable.precipitation, Unit.millimetre, 0, 1.0, 0.0),
        "tcc": (Variable.cloud_cover, Unit.percentage, 0, 1.0, 0.0),
    }
    for number, (name, (variable, unit, altitude, factor, offset)) in enumerate(expected.items()):
        column = hourly.Variables(number)
        assert (column.Variable(), column.Unit(), column.Altitude()) == (variable, unit, altitude)
        values = np.array(series.columns[name].values) * factor + offset
        np.testing.assert_array_equal(column.ValuesAsNumpy(), values.astype(np.float32))
    precipitation = hourly.Variables(4).ValuesAsNumpy()
    assert np.isnan(precipitation[0])
    assert precipitation[1:].tolist() == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]


def test_openmeteo_requests_reads_current_and_daily_values_of_several_places_and_models(
    forecast_server: LiveServer, begin: datetime
) -> None:
    wanted = {
        "hourly": HOURLY,
        "current": ["temperature_2m", "precipitation"],
        "daily": ["temperature_2m_max", "precipitation_sum", "sunrise"],
        "models": ["gfs_hrrr", "gfs_global"],
    }
    found = asked(forecast_server, latitude=[LAT, 42.0], longitude=[LON, -71.5], **wanted)
    assert [(one.LocationId(), one.Model()) for one in found] == [
        (0, Model.gfs_hrrr), (0, Model.gfs_global), (1, Model.gfs_hrrr), (1, Model.gfs_global),
    ]  # fmt: skip
    current = found[0].Current()
    assert (current.Time() % 900, current.Interval()) == (0, 900)
    assert -40 < current.Variables(0).Value() < 60
    assert current.Variables(1).Value() > 0
    maximum = found[0].Daily().Variables(0)
    assert maximum.Aggregation() == Aggregation.maximum
    # Seven hours do not make a day.
    assert np.isnan(maximum.ValuesAsNumpy()).all()
    sunrise = found[0].Daily().Variables(2)
    assert (sunrise.Variable(), sunrise.Unit()) == (Variable.sunrise, Unit.unix_time)
    assert 9 <= (sunrise.ValuesInt64AsNumpy()[0] % 86400) / 3600 <= 12.5
    alone = asked(forecast_server, latitude=[42.0], longitude=[-71.5], **wanted)
    assert [contents(one) for one in found[2:]] == [contents(one) for one in alone]


def test_openmeteo_requests_reads_quarters_of_an_hour_in_the_time_zone_of_the_place(
    forecast_server: LiveServer, begin: datetime
) -> None:
    end = f"{begin + timedelta(hours=1):%Y-%m-%dT%H:%M}"
    hours = {"start_hour": f"{begin:%Y-%m-%dT%H:%M}", "end_hour": end}
    (found,) = asked(forecast_server, minutely_15=["temperature_2m"], hourly=["temperature_2m"], models="hrrr", **hours)
    quarters, hourly = found.Minutely15(), found.Hourly()
    assert (quarters.Time(), quarters.Interval()) == (int(begin.timestamp()), 900)
    values = quarters.Variables(0).ValuesAsNumpy()
    np.testing.assert_array_equal(values[[0, 4]], hourly.Variables(0).ValuesAsNumpy())
    assert values[2] == pytest.approx((values[0] + values[4]) / 2, abs=1e-3)
    (local,) = asked(forecast_server, hourly=["temperature_2m"], timezone="auto", forecast_days=1)
    assert local.Timezone() == b"America/New_York"
    assert (local.Hourly().Time() + local.UtcOffsetSeconds()) % 86400 == 0


def test_openmeteo_requests_raises_the_reason(forecast_server: LiveServer) -> None:
    with pytest.raises(OpenMeteoRequestsError, match="invalid String value lksdfj for key hourly"):
        asked(forecast_server, hourly=["lksdfj"])


@pytest.mark.witness
def test_open_meteo_reads_a_forecast(forecast_server: LiveServer, begin: datetime) -> None:
    from tests.server.openmeteo.open_meteo_client import ask  # its import would slow down every collection

    found = asyncio.run(ask(forecast_server.url))
    assert found.timezone == "America/New_York"
    assert found.hourly.temperature_2m is not None
    there = [value for value in found.hourly.temperature_2m if value is not None]
    assert (len(found.hourly.temperature_2m), len(there)) == (72, HOURS)
    assert found.hourly.weather_code == [None] * 72
    assert min(there) <= found.current.temperature_2m <= max(there)
