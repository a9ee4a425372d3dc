"""`/v1/forecast`: point forecasts with the names, units and shapes of Open-Meteo."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from fastapi import Request
from starlette.responses import Response

from gribmill.server.context import Server
from gribmill.server.data.point_answer import PointSource, answered, answered_in_thread
from gribmill.server.openmeteo.answer import PlaceAnswer, place_answers
from gribmill.server.openmeteo.binary import binary
from gribmill.server.openmeteo.csv_text import csv_text
from gribmill.server.openmeteo.errors import ERROR_SCHEMA, OpenMeteoError, error_response
from gribmill.server.openmeteo.forecast_request import ForecastRequest, forecast_request
from gribmill.server.openmeteo.json_text import json_text
from gribmill.server.problems import ERROR_RESPONSES
from gribmill.server.router import SecuredRouter
from gribmill.tiles.read.point.point import PointRequest

router = SecuredRouter(tag="Open-Meteo")

# Larger responses would keep all other requests waiting: they are made in a thread.
MOST_VALUES_AT_ONCE = 10_000
TEXT = {"type": "string"}
DESCRIBED = {
    "latitude": "Latitudes in degrees, separated by commas.",
    "longitude": "Longitudes in degrees, one for each latitude.",
    "elevation": "Elevations in metres, one for all places or one for each: temperatures are adjusted to them.",
    "hourly": "Hourly variables, such as temperature_2m,precipitation,wind_speed_10m.",
    "minutely_15": "15-minutely variables.",
    "daily": "Daily variables, such as temperature_2m_max,precipitation_sum.",
    "current": "Variables for the current quarter of an hour.",
    "current_weather": "true: the same with the variables and names of earlier versions.",
    "models": "best_match, or names such as gfs_hrrr, gfs_global, ecmwf_ifs025, or gribmill's own.",
    "timezone": "A name such as America/New_York, or auto for that of the place. GMT by default.",
    "forecast_days": "0 to 16, by default 7.",
    "past_days": "0 to 92.",
    "forecast_hours": "Hours from the current one, instead of whole days.",
    "past_hours": "Hours before the current one.",
    "forecast_minutely_15": "Quarters of an hour from the current one, instead of whole days.",
    "past_minutely_15": "Quarters of an hour before the current one.",
    "start_date": "With end_date: YYYY-MM-DD.",
    "end_date": "See start_date.",
    "start_hour": "With end_hour: YYYY-MM-DDTHH:MM in the time zone.",
    "end_hour": "See start_hour.",
    "start_minutely_15": "With end_minutely_15: YYYY-MM-DDTHH:MM in the time zone.",
    "end_minutely_15": "See start_minutely_15.",
    "temperature_unit": "celsius or fahrenheit.",
    "wind_speed_unit": "kmh, ms, mph or kn.",
    "windspeed_unit": "The same.",
    "precipitation_unit": "mm or inch.",
    "timeformat": "iso8601 or unixtime.",
    "format": "json, csv or flatbuffers.",
    "cell_selection": "Accepted, but the nearest grid point is always used.",
    "apikey": "Accepted and ignored.",
}
PARAMETERS: list[dict[str, Any]] = [
    {"name": name, "in": "query", "required": name in ("latitude", "longitude"), "schema": TEXT, "description": text}
    for name, text in DESCRIBED.items()
]
REFUSALS: dict[int | str, dict[str, Any]] = {
    "4XX": {
        "description": "The error, in Open-Meteo's format; a problem document if the request is not allowed.",
        "content": {"application/json": {"schema": ERROR_SCHEMA}, **ERROR_RESPONSES["4XX"]["content"]},
    }
}


@router.get("/v1/forecast", response_class=Response, openapi_extra={"parameters": PARAMETERS}, responses=REFUSALS)
async def open_meteo_forecast(request: Request, server: Server) -> Response:
    """A forecast for one place or several. Errors are `{"error": true, "reason": …}` with status 400."""
    try:
        wanted = forecast_request(request.query_params.multi_items(), datetime.now(UTC))
        base = PointRequest(server.root)

        def answer(source: PointSource) -> Response:
            return _written(place_answers(source, wanted, base), wanted)

        if wanted.size > MOST_VALUES_AT_ONCE:
            return await answered_in_thread(server, answer)
        return await answered(server, answer)
    except OpenMeteoError as error:
        return error_response(error)


def _written(answers: list[list[PlaceAnswer]], wanted: ForecastRequest) -> Response:
    match wanted.format:
        case "flatbuffers":
            return Response(binary(answers), media_type="application/octet-stream")
        case "csv":
            return Response(csv_text(answers, unixtime=wanted.unixtime), media_type="text/csv")
        case _:
            return Response(json_text(answers, unixtime=wanted.unixtime), media_type="application/json")
