"""Names of models, runs, hours and regions as fields of pydantic's models: arguments of jobs, and events.

Apart from `identity`, so that commands which need no arguments of jobs start without pydantic.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gribmill.identity import HOUR_LIMIT, MODEL_ID, REGION_NAME, RUN_ID

ModelId = Annotated[str, Field(pattern=f"^{MODEL_ID.pattern}$", description="A model, such as hrrr or gefs.p01")]
RunId = Annotated[str, Field(pattern=f"^{RUN_ID.pattern}$", description="A run as YYYYMMDD_HH, in UTC")]
Hour = Annotated[int, Field(ge=0, le=HOUR_LIMIT, strict=True, description="Forecast hour")]
RegionName = Annotated[str, Field(pattern=f"^{REGION_NAME.pattern}$", description="A region, such as ne")]
