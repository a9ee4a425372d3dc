"""The overview of `status`, the API and `--check`."""

from __future__ import annotations

from datetime import datetime, timedelta, tzinfo
from typing import Self

import pytest

from gribmill.pipeline.context import Context
from gribmill.pipeline.open_queue import open_queue
from gribmill.pipeline.status.overview import look_at
from tests.pipeline.conftest import Scribe
from tests.pipeline.status.conftest import CHAIN, RUN, RUN_ID

NOW = RUN + timedelta(minutes=55)


class FixedTime(datetime):
    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        return cls.fromtimestamp(NOW.timestamp(), tz)


def test_all_parts_are_of_the_same_moment(context: Context, scribe: Scribe, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a run could be late in one part and not yet due in another."""
    scribe.run(RUN_ID, [0, 1])
    for hour in (0, 1):
        scribe.hour(RUN_ID, hour, ["ne"])
        scribe.tile(RUN_ID, hour, "ne")
    open_queue(context.settings).workers.heartbeat("host-1-ab", 60, types=CHAIN)
    monkeypatch.setattr("gribmill.pipeline.status.overview.datetime", FixedTime)
    found = look_at(context, ["hrrr"])
    (status,) = found.statuses
    assert status.newest_due == RUN_ID
    assert status.next_due_at is not None and NOW < status.next_due_at < NOW + timedelta(hours=1)
    assert found.health.well
