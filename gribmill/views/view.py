"""The base of all views: frozen, with every key always present, and times in one format."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Self, cast

from pydantic import BaseModel, ConfigDict, PlainSerializer, WithJsonSchema


def _rfc3339(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


_DATE_TIME = WithJsonSchema({"type": "string", "format": "date-time"})

Time = Annotated[datetime, PlainSerializer(_rfc3339, return_type=str), _DATE_TIME]
"""`2026-11-16T04:00:00.000Z`: when something happened."""

ForecastTime = Annotated[datetime, PlainSerializer(datetime.isoformat, return_type=str), _DATE_TIME]
"""`2026-11-16T04:00:00+00:00`: a time of the forecast itself."""


class View(BaseModel):
    """JSON for programs. Its keys and their order are a promise: add keys, do not change them."""

    # Commands use few of the views that they import, so each is compiled on first use.
    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        defer_build=True,
        populate_by_name=True,
        json_schema_serialization_defaults_required=True,
    )

    @classmethod
    def copy_of(cls, record: Any, **other: Any) -> Self:
        """Copy the fields of a database record without validation; `other` overrides some of them.

        A manually edited row may contain anything and is shown unchanged.
        """
        copied = {name: getattr(record, name) for name in cls.model_fields if name not in other}
        return cast("Self", cls.model_construct(**copied, **other))
