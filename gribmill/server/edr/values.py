"""Types of the parameters of EDR requests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Path, Query

CollectionId = Annotated[str, Path(pattern=r"^[a-z0-9._-]{1,60}:[a-z0-9_-]{1,40}$", description="MODEL:REGION")]
RunId = Annotated[str, Path(pattern=r"^[0-9]{8}_[0-9]{2}(?:[0-9]{2})?$", description="A run, such as 20260901_12.")]
Text = Annotated[str | None, Query(max_length=20_000)]
Names = Annotated[list[str] | None, Query(alias="parameter-name", description="Parameters, separated by commas.")]
OtherNames = Annotated[list[str] | None, Query(alias="parameter_names", description="The same as `parameter-name`.")]


@dataclass(frozen=True, slots=True)
class QuerySelection:
    """The parameters that all queries have: times, names and shape."""

    datetime: str | None
    names: tuple[str, ...]
    crs: str | None
    f: str | None
    z: str | None


async def _selection(
    datetime: Text = None,
    names: Names = None,
    other_names: OtherNames = None,
    crs: Text = None,
    f: Text = None,
    z: Text = None,
) -> QuerySelection:
    """FastAPI calls a plain function in a thread."""
    return QuerySelection(datetime, (*(names or ()), *(other_names or ())), crs, f, z)


Selected = Annotated[QuerySelection, Depends(_selection)]
