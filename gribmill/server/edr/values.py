"""Types of the parameters of EDR requests."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Path, Query

from gribmill.errors import quoted
from gribmill.server.problems import HttpProblem

_COLLECTION = re.compile(r"[a-z0-9._-]{1,60}:[a-z0-9_-]{1,40}")
_RUN = re.compile(r"[0-9]{8}_[0-9]{2}(?:[0-9]{2})?")
Text = Annotated[str | None, Query(max_length=20_000)]
Names = Annotated[list[str] | None, Query(alias="parameter-name", description="Parameters, separated by commas.")]
OtherNames = Annotated[list[str] | None, Query(alias="parameter_names", description="The same as `parameter-name`.")]


async def _collection_id(collection_id: Annotated[str, Path(description="MODEL:REGION")]) -> str:
    """Respond to a malformed id with 404, as the standard requires."""
    if not _COLLECTION.fullmatch(collection_id):
        raise HttpProblem(404, f"there is no collection {quoted(collection_id)}: ids are MODEL:REGION")
    return collection_id


async def _run_id(run: Annotated[str, Path(description="A run, such as 20260901_12.")]) -> str:
    if not _RUN.fullmatch(run):
        raise HttpProblem(404, f"there is no run {quoted(run)}: runs are YYYYMMDD_HH")
    return run


CollectionId = Annotated[str, Depends(_collection_id)]
RunId = Annotated[str, Depends(_run_id)]


@dataclass(frozen=True, slots=True)
class QuerySelection:
    """The parameters common to all queries: times, names and output format."""

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
    """Async because FastAPI would run a plain function in a thread."""
    return QuerySelection(datetime, (*(names or ()), *(other_names or ())), crs, f, z)


Selected = Annotated[QuerySelection, Depends(_selection)]
