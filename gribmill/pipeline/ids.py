"""The ids in job arguments. Strict patterns: none can climb out of the data root."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from gribmill.identity import run_time
from gribmill.ingest.errors import IngestError

# The longest forecasts published run to 840 h (GEFS); a year leaves room and catches nonsense.
HOUR_LIMIT = 8784


def _real_time(run_id: str) -> str:
    try:
        run_time(run_id)
    except IngestError as error:
        raise ValueError(str(error)) from None
    return run_id


ModelId = Annotated[
    str,
    Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,29}(\.[a-z0-9]{1,8})?$", description="A model, such as hrrr or gefs.p01"),
]
RunId = Annotated[
    str, Field(pattern=r"^\d{8}_\d{2}$", description="A run as YYYYMMDD_HH, in UTC"), AfterValidator(_real_time)
]
Hour = Annotated[int, Field(ge=0, le=HOUR_LIMIT, strict=True, description="Forecast hour")]
RegionId = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$", description="A region, such as ne")]
