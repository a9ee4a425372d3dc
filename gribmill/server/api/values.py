"""Types of request values: bounded, and storable in every database."""

from __future__ import annotations

import json
import math
from datetime import datetime
from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field

HIGHEST_ID = 2**63 - 1
PAGE_LIMIT = 1000


class RequestBody(BaseModel):
    """A request body. Unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def given(self) -> dict[str, Any]:
        """The fields that the request contains."""
        return {name: getattr(self, name) for name in self.model_fields_set}


def _leave_out_defaults(schema: dict[str, Any]) -> None:
    for part in schema["properties"].values():
        part.pop("default", None)


class EditBody(RequestBody):
    """The fields to change; others keep their value. The OpenAPI document states no defaults, because generated clients
    would send them."""

    model_config = ConfigDict(json_schema_extra=_leave_out_defaults)


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


def _not_a_boolean(value: Any) -> Any:
    """Refuse what pydantic would take for 0 or 1: `"days": true` is not a number of days."""
    if isinstance(value, bool):
        raise ValueError("must be a number, not a boolean")
    return value


def _not_a_number(value: Any) -> Any:
    """Refuse what pydantic would take for seconds since 1970: `20261119` is a date without its hyphens."""
    try:
        number = not isinstance(value, datetime) and math.isfinite(float(value))
    except (TypeError, ValueError, OverflowError):
        return value
    if number:
        raise ValueError("must be a time such as 2026-11-19T06:00:00Z, not a number")
    return value


def _in_range(moment: datetime) -> datetime:
    if not 1970 <= moment.year <= 9000:
        raise ValueError("must be between 1970 and 9000")
    return moment


JsonObject = Annotated[dict[str, Any], AfterValidator(_storable_object)]
Text = Annotated[str, Field(max_length=2000), AfterValidator(_visible)]
Name = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_visible)]
Key = Annotated[str, Field(min_length=1, max_length=1000), AfterValidator(_visible)]
WholeNumber = Annotated[int, BeforeValidator(_not_a_boolean)]
Number = Annotated[float, BeforeValidator(_not_a_boolean)]
Moment = Annotated[AwareDatetime, BeforeValidator(_not_a_number), AfterValidator(_in_range)]
TimeoutSeconds = Annotated[WholeNumber, Field(ge=1, le=604_800)]
MaxAttempts = Annotated[WholeNumber, Field(ge=1, le=1000)]
ObjectId = Annotated[WholeNumber, Field(ge=1, le=HIGHEST_ID)]
PathId = Annotated[int, Path(ge=1, le=HIGHEST_ID)]
PathName = Annotated[str, Path(min_length=1, max_length=200)]
PathWorker = Annotated[str, Path(min_length=1, max_length=300, description="The worker's id.")]
PageLimit = Annotated[int, Query(ge=1, le=PAGE_LIMIT, description="Maximum number of items per page.")]
Cursor = Annotated[int | None, Query(ge=1, le=HIGHEST_ID, description="`next_cursor` of the page before.")]
