"""Status says plainly what is here, what is missing, and why."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from gribmill.pipeline.context import Context
from gribmill.pipeline.status import status_of
from tests.pipeline.conftest import Scribe

RUN = datetime(2026, 11, 1, 13, tzinfo=UTC)
RUN_ID = "20261101_13"


def test_missing_hours_carry_their_reasons(context: Context, scribe: Scribe) -> None:
    model = context.models["hrrr"]
    scribe.run(RUN_ID, model.hours(RUN))
    scribe.hour(RUN_ID, 0, ["ne"])
    scribe.tile(RUN_ID, 0, "ne")
    scribe.hour(RUN_ID, 1, ["ne"])
    now = model.expected_at(RUN, 4).usual + timedelta(seconds=1)
    run = status_of(context, [model], now=now)[0].runs[0]
    reasons = {one.hour: one.reason for one in run.missing}
    assert 0 not in reasons
    assert reasons[1] == "downloaded, tiles missing"
    assert reasons[3] == "due"
    assert reasons[18] == "not due yet"
    late = status_of(context, [model], now=RUN + timedelta(hours=5))[0].runs[0]
    assert {one.reason for one in late.missing if one.hour > 1} == {"late"}
    assert (run.hours_built, run.hours_expected, run.tiles) == (1, 19, 1)


def test_tiles_that_should_long_be_there_are_late_whosever_fault_it_is(context: Context, scribe: Scribe) -> None:
    model = context.models["hrrr"]
    scribe.run(RUN_ID, [0, 1])
    scribe.hour(RUN_ID, 0, ["ne"])
    scribe.tile(RUN_ID, 0, "ne")
    scribe.hour(RUN_ID, 1, ["ne"])
    late = model.expected_at(RUN, 1).late
    assert status_of(context, [model], now=late)[0].verdict == "arriving"
    assert status_of(context, [model], now=late + timedelta(seconds=1))[0].verdict == "1 hour late"


def test_model_without_tiles_says_so(context: Context) -> None:
    assert status_of(context, [context.models["gfs"]])[0].verdict == "nothing here yet"


def test_model_whose_newest_run_is_not_the_newest_due_is_behind(context: Context, scribe: Scribe) -> None:
    scribe.run(RUN_ID, [0])
    scribe.hour(RUN_ID, 0, ["ne"])
    scribe.tile(RUN_ID, 0, "ne")
    status = status_of(context, [context.models["hrrr"]], now=RUN + timedelta(hours=8))[0]
    assert status.verdict.startswith("behind: 20261101_20")
