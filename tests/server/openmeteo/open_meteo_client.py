"""A forecast through the client `open-meteo`, which takes seconds to import."""

from __future__ import annotations

from typing import Any

import pytest
from open_meteo import OpenMeteo
from open_meteo.exceptions import OpenMeteoError as ClientError
from open_meteo.models import DailyParameters, HourlyParameters
from yarl import URL

from tests.server.data.forecast_root import LAT, LON


class OurHost(OpenMeteo):
    """The published client with another host."""

    async def _request(self, url: URL, **options: Any) -> Any:
        ours = URL(self.server_url)
        return await super()._request(url.with_scheme("http").with_host("127.0.0.1").with_port(ours.port), **options)

    server_url = ""


async def ask(server_url: str) -> Any:
    """The forecast of a place; the client raises if there is none."""
    async with OurHost() as client:
        client.server_url = server_url
        found = await client.forecast(
            latitude=LAT,
            longitude=LON,
            timezone="America/New_York",
            hourly=[HourlyParameters.TEMPERATURE_2M, HourlyParameters.PRECIPITATION, HourlyParameters.WEATHER_CODE],
            current=[HourlyParameters.TEMPERATURE_2M],
            daily=[DailyParameters.TEMPERATURE_2M_MAX],
            models=["gfs_hrrr"],
            past_days=1,
            forecast_days=2,
        )
        with pytest.raises(ClientError):
            await client.forecast(latitude=0.0, longitude=0.0, hourly=[HourlyParameters.TEMPERATURE_2M])
        return found
