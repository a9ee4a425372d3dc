"""Parameters shared by data operations, each validated in one place."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import Path, Query

from gribmill.errors import GribmillError, quoted
from gribmill.identity import MODEL_ID, REGION_NAME, RUN_ID
from gribmill.server.problems import HttpProblem
from gribmill.storage.layout import DataRoot
from gribmill.tiles.read.point.place import Sampling
from gribmill.tiles.read.point.point import PointRequest
from gribmill.tiles.read.units import System

MOST_VARIABLES = 60
_VARIABLE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")

ModelQuery = Annotated[
    str | None, Query(pattern=f"^{MODEL_ID.pattern}$", description="A model, or an ensemble member.")
]
RegionQuery = Annotated[str | None, Query(pattern=f"^{REGION_NAME.pattern}$", description="A region.")]
RunQuery = Annotated[
    str | None,
    Query(
        max_length=20,
        description="complete (default: the newest complete run), newest, seamless (each hour from the newest run that "
        "has it), or YYYYMMDD_HH.",
    ),
]
VariablesQuery = Annotated[
    str | None,
    Query(alias="vars", max_length=4000, description="Variables, separated by commas, such as t2m,ws10,tp."),
]
UnitsQuery = Annotated[
    System, Query(description="metric: °C, m/s; us: °F, mph; si: as in the GRIB file; common: K, mm.")
]
MethodQuery = Annotated[
    Sampling, Query(description="The nearest grid point, or interpolation between the four around the place.")
]
Latitude = Annotated[float, Query(ge=-90, le=90, allow_inf_nan=False)]
Longitude = Annotated[float, Query(ge=-360, le=360, allow_inf_nan=False)]
ModelPath = Annotated[str, Path(pattern=f"^{MODEL_ID.pattern}$")]
RunPath = Annotated[str, Path(pattern=f"^{RUN_ID.pattern}$")]
RegionPath = Annotated[str, Path(pattern=f"^{REGION_NAME.pattern}$")]


def variable_names(text: str | None, most: int = MOST_VARIABLES) -> tuple[str, ...] | None:
    """The names in a comma-separated list, without duplicates; None if no list was given."""
    if text is None:
        return None
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    if not names:
        raise HttpProblem(422, "the list of variables is empty", errors=[("query.vars", "empty")])
    for name in names:
        if not _VARIABLE.fullmatch(name):
            raise HttpProblem(422, f"{quoted(name)} is not a variable", errors=[("query.vars", "not a name")])
    if len(names) > most:
        message = f"{len(names)} variables are more than {most}"
        raise HttpProblem(422, message, errors=[("query.vars", message)])
    return names


def point_request(
    root: DataRoot,
    model: str | None,
    run: str | None,
    region: str | None,
    variables: tuple[str, ...] | None,
    method: Sampling = "nearest",
    units: System = "metric",
    zone: str | None = None,
) -> PointRequest:
    """The validated request; raises a problem 422 if the run or time zone is invalid."""
    try:
        return PointRequest(root, model, run, region, variables, method, units, zone)
    except GribmillError as error:
        raise HttpProblem(422, str(error)) from None
