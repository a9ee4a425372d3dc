"""Status reports what is available, what is missing, and why."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta

from gribmill.pipeline.context import Context
from gribmill.pipeline.status.status import status_of
from tests.pipeline.conftest import Scribe

RUN = datetime(2026, 11, 1, 13, tzinfo=UTC)
RUN_ID = "20261101_13"


def test_missing_hours_show_their_reasons(context: Context, scribe: Scribe) -> None:
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


def test_overdue_tiles_are_late_for_any_reason(context: Context, scribe: Scribe) -> None:
    model = context.models["hrrr"]
    scribe.run(RUN_ID, [0, 1])
    scribe.hour(RUN_ID, 0, ["ne"])
    scribe.tile(RUN_ID, 0, "ne")
    scribe.hour(RUN_ID, 1, ["ne"])
    late = model.expected_at(RUN, 1).late
    assert status_of(context, [model], now=late)[0].verdict == "arriving"
    assert status_of(context, [model], now=late + timedelta(seconds=1))[0].verdict == "1 forecast hour is late"


def follows(context: Context, *regions: str) -> Context:
    """The same data root, with hrrr and these regions in [chain]."""
    chain = context.settings.chain.model_copy(update={"models": ("hrrr",), "regions": regions})
    return dataclasses.replace(context, settings=context.settings.model_copy(update={"chain": chain}))


def whole_run(scribe: Scribe) -> None:
    scribe.run(RUN_ID, [0, 1])
    for hour in (0, 1):
        scribe.hour(RUN_ID, hour, ["ne"])
        scribe.tile(RUN_ID, hour, "ne")


def test_late_hours_are_reported_as_forecast_hours_not_as_a_delay(context: Context, scribe: Scribe) -> None:
    model = context.models["hrrr"]
    scribe.run(RUN_ID, [0, 1])
    moment = model.expected_at(RUN, 1).late + timedelta(seconds=1)
    assert status_of(context, [model], now=moment)[0].verdict == "2 forecast hours are late"


def test_run_is_incomplete_while_a_followed_region_lacks_tiles(context: Context, scribe: Scribe) -> None:
    whole_run(scribe)
    model, now = context.models["hrrr"], RUN + timedelta(minutes=55)
    assert status_of(follows(context, "ne"), [model], now=now)[0].verdict == "whole"
    both = follows(context, "ne", "texas")
    status = status_of(both, [model], now=now)[0]
    run = status.runs[0]
    assert (status.verdict, run.state, run.whole) == ("arriving", "incomplete", False)
    assert (run.hours_built, run.tiles, run.tiles_expected) == (0, 2, 4)
    assert [(one.hour, one.reason, one.regions) for one in run.missing] == [
        (0, "downloaded, tiles missing", ("texas",)),
        (1, "downloaded, tiles missing", ("texas",)),
    ]
    assert status.complete["texas"] is None
    moment = model.expected_at(RUN, 1).late + timedelta(seconds=1)
    assert status_of(both, [model], now=moment)[0].verdict == "2 forecast hours are late"


def test_run_is_incomplete_while_a_requested_region_lacks_hours(context: Context, scribe: Scribe) -> None:
    """Regions given on a command line are recorded with the request, not in the settings."""
    whole_run(scribe)
    scribe.hour(RUN_ID, 0, ["texas"])
    scribe.tile(RUN_ID, 0, "texas")
    run = status_of(context, [context.models["hrrr"]])[0].runs[0]
    assert (run.state, run.regions, run.tiles, run.tiles_expected) == ("incomplete", ("ne", "texas"), 3, 4)
    assert [(one.hour, one.regions) for one in run.missing] == [(1, ("texas",))]


def test_regions_of_the_chain_are_not_expected_of_a_model_that_is_not_followed(
    context: Context, scribe: Scribe
) -> None:
    scribe.run(RUN_ID, [0], model_id="rap")
    scribe.hour(RUN_ID, 0, ["conus"], model_id="rap")
    scribe.tile(RUN_ID, 0, "conus", model_id="rap")
    assert status_of(follows(context, "ne"), [context.models["rap"]])[0].runs[0].whole


def test_region_outside_the_file_is_not_missing(context: Context, scribe: Scribe) -> None:
    whole_run(scribe)
    for hour in (0, 1):
        scribe.asked(RUN_ID, hour, "texas")
    assert status_of(follows(context, "ne", "texas"), [context.models["hrrr"]])[0].runs[0].whole


def test_model_without_tiles_says_so(context: Context) -> None:
    assert status_of(context, [context.models["gfs"]])[0].verdict == "nothing here yet"


def test_model_whose_newest_run_is_not_the_newest_due_is_behind(context: Context, scribe: Scribe) -> None:
    scribe.run(RUN_ID, [0])
    scribe.hour(RUN_ID, 0, ["ne"])
    scribe.tile(RUN_ID, 0, "ne")
    status = status_of(context, [context.models["hrrr"]], now=RUN + timedelta(hours=8))[0]
    assert status.verdict.startswith("behind: run 20261101_20 is due")
