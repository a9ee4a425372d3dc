"""Types of request values: bounded, and storable in every database."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field

HIGHEST_ID = 2**63 - 1
PAGE_LIMIT = 1000


class RequestBody(BaseModel):
    """A request body. Unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def given(self) -> dict[str, Any]:
        """The fields that the request contains."""
        return {name: getattr(self, name) for name in self.model_fields_set}


def _storable_object(value: dict[str, Any]) -> dict[str, Any]:
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        raise ValueError("numbers must be finite, text valid Unicode, and nesting reasonable") from None
    return value


def _visible(text: str) -> str:
    if not text.isprintable():
        raise ValueError("must contain only printable characters")
    return text


def _in_range(moment: datetime) -> datetime:
    if not 1970 <= moment.year <= 9000:
        raise ValueError("must be between 1970 and 9000")
    return moment


JsonObject = Annotated[dict[str, Any], AfterValidator(_storable_object)]
Text = Annotated[str, Field(max_length=2000), AfterValidator(_visible)]
Name = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_visible)]
Key = Annotated[str, Field(min_length=1, max_length=1000), AfterValidator(_visible)]
Moment = Annotated[AwareDatetime, AfterValidator(_in_range)]
ObjectId = Annotated[int, Field(ge=1, le=HIGHEST_ID)]
PathId = Annotated[int, Path(ge=1, le=HIGHEST_ID)]
PathName = Annotated[str, Path(min_length=1, max_length=200)]
PathWorker = Annotated[str, Path(min_length=1, max_length=300, description="The worker's id.")]
PageLimit = Annotated[int, Query(ge=1, le=PAGE_LIMIT, description="Maximum number of items per page.")]
Cursor = Annotated[int | None, Query(ge=1, le=HIGHEST_ID, description="`next_cursor` of the page before.")]
