"""Times as people write them: dates, dates with an hour, run ids."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime

import click

from gribmill.identity import IdentityError, run_time


class Moment(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.4 only
    """A time in UTC: 2026-11-01, 2026-11-01T06, a run id 20261101_06, or any ISO 8601 time with its offset.

    A date without a time means `hour` of that day.
    """

    name = "time"

    def __init__(self, hour: int = 0) -> None:
        self.hour = hour

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        if isinstance(value, datetime):
            return value
        for form in ("%Y-%m-%d", "%Y%m%d"):
            with contextlib.suppress(ValueError):
                return datetime.strptime(str(value), form).replace(hour=self.hour, tzinfo=UTC)
        for form in ("%Y-%m-%dT%H", "%Y-%m-%dT%H:%M"):
            with contextlib.suppress(ValueError):
                return datetime.strptime(str(value), form).replace(tzinfo=UTC)
        with contextlib.suppress(IdentityError):
            return run_time(str(value))
        with contextlib.suppress(ValueError, OverflowError):
            moment = datetime.fromisoformat(str(value))
            return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        raise click.BadParameter(
            f"{value!r} is not a time; use 2026-11-01, 2026-11-01T06 or 20261101_06 (UTC)", ctx, param
        )
