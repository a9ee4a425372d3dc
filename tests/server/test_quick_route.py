"""Quick routes answer like any other route, and are described like one."""

from __future__ import annotations

from typing import Annotated

import pytest
from fastapi import Path, Query

from gribmill.server.context import Server
from gribmill.server.data.point_routes import point_forecast
from gribmill.server.quick_route import query_model


def test_query_is_validated_like_by_fastapi() -> None:
    model = query_model(point_forecast)
    found = model.model_validate({"lat": " 42.36 ", "lon": "-71", "vars": "t2m", "variables": "tp", "more": "x"})
    assert found.model_dump(exclude_none=True) == {
        "lat": 42.36, "lon": -71.0, "variables": "t2m", "units": "metric", "method": "nearest",
    }  # fmt: skip


def test_parameters_of_the_path_are_refused() -> None:
    async def handler(server: Server, hour: Annotated[int, Path()], lat: Annotated[float, Query()]) -> None: ...

    with pytest.raises(TypeError, match="hour of handler"):
        query_model(handler)
