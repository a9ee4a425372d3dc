"""A run is complete when every hour has every tile."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from gribmill.catalogue.events import HourSeen, RegionsWanted, TilesDone
from gribmill.identity import HourRef, RunRef
from gribmill.ingest.mirror import Observation
from gribmill.pipeline.context import Context
from gribmill.pipeline.effects import observations
from gribmill.pipeline.handlers.spooled_hour import spent_hours
from gribmill.pipeline.open_queue import open_queue
from gribmill.queue.model import ClaimRequest, NewJob
from gribmill.settings.schema import Settings
from tests.pipeline.conftest import Scribe

RUN = "20261101_12"
REF = RunRef("hrrr", RUN)


def spool(context: Context, hour: HourRef) -> None:
    """Downloaded messages whose tiles are not built yet."""
    path = context.root.spool(hour)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()


def spent(context: Context, run_id: str) -> list[int]:
    return [*spent_hours(context, RunRef("hrrr", run_id))]


def test_hour_is_built_with_its_last_tile(context: Context, scribe: Scribe) -> None:
    scribe.run(RUN, [0, 1])
    scribe.hour(RUN, 0, ["ne", "conus"])
    scribe.tile(RUN, 0, "ne")
    assert context.catalogue.hours(REF)[0].state == "ingested"
    scribe.tile(RUN, 0, "conus")
    assert context.catalogue.hours(REF)[0].state == "built"


def test_one_hour_is_read_as_all_of_them_are(context: Context, scribe: Scribe) -> None:
    scribe.run(RUN, [0, 1])
    scribe.hour(RUN, 1, ["ne"])
    assert context.catalogue.hour(REF.hour(1)) == context.catalogue.hours(REF)[1]
    assert context.catalogue.hour(REF.hour(0)) is None


def test_hours_are_spent_when_built_unless_their_messages_are_kept(context: Context, scribe: Scribe) -> None:
    for hour in range(3):
        scribe.hour(RUN, hour, ["ne"])
    for hour in range(2):
        scribe.tile(RUN, hour, "ne")
    for hour in range(3):
        spool(context, HourRef("hrrr", RUN, hour))
    assert spent(context, RUN) == [0, 1]
    hour_1 = HourRef("hrrr", RUN, 1)
    context.catalogue.record([RegionsWanted(hour_1, regions=("ne",), asked=(), keep_grib=True), TilesDone(hour_1)])
    assert context.catalogue.hour(REF.hour(1)).state == "built"  # type: ignore[union-attr]
    assert spent(context, RUN) == [0]


@pytest.mark.parametrize("status", ["pending", "processing"])
def test_hours_are_not_spent_while_a_job_works_on_them(
    context: Context, scribe: Scribe, settings: Settings, status: str
) -> None:
    """The job may just have fetched the messages again without being recorded yet."""
    for run_id in (RUN, "20261101_06"):
        for hour in (1, 2, 12):
            scribe.hour(run_id, hour, ["ne"])
            scribe.tile(run_id, hour, "ne")
            spool(context, HourRef("hrrr", run_id, hour))
    key = {"model_id": "hrrr", "run_id": RUN}
    store = open_queue(settings)
    fetch, build = NewJob("ingest_grib", {**key, "hour": 1}), NewJob("build_tile", {**key, "hour": 2, "region": "ne"})
    store.jobs.enqueue_many([fetch, build])
    if status == "processing":
        for type_key in ("ingest_grib", "build_tile"):
            assert store.claim(ClaimRequest("me", (type_key,), 60.0))
    assert spent(context, RUN) == [12]
    assert spent(context, "20261101_06") == [1, 2, 12]


def test_run_lacks_tiles_that_no_hour_has_yet(context: Context, scribe: Scribe) -> None:
    scribe.run(RUN, [0, 1, 2])
    for hour in (0, 1):
        scribe.hour(RUN, hour, ["ne"])
    scribe.tile(RUN, 0, "ne")
    assert context.catalogue.lacking(REF, ["ne"]) == {1: ("ne",), 2: ("ne",)}
    scribe.asked(RUN, 1, "texas")
    assert context.catalogue.lacking(REF, ["texas"]) == {0: ("texas",), 2: ("texas",)}


def test_run_is_complete_with_its_last_hour(context: Context, scribe: Scribe) -> None:
    scribe.run(RUN, [0, 1])
    for hour in (0, 1):
        assert context.catalogue.runs("hrrr")[0].state == "arriving"
        scribe.hour(RUN, hour, ["ne"])
        scribe.tile(RUN, hour, "ne")
    assert context.catalogue.runs("hrrr")[0].state == "complete"


def test_run_whose_hours_are_still_discovered_is_never_complete(context: Context, scribe: Scribe) -> None:
    scribe.run(RUN, [1], final=False)
    scribe.hour(RUN, 1, ["ne"])
    scribe.tile(RUN, 1, "ne")
    assert context.catalogue.runs("hrrr")[0].state == "arriving"
    assert context.catalogue.newest_complete_run("hrrr", "ne") is None


def test_run_that_gains_hours_is_arriving_again(context: Context, scribe: Scribe) -> None:
    scribe.run(RUN, [0])
    scribe.hour(RUN, 0, ["ne"])
    scribe.tile(RUN, 0, "ne")
    scribe.run(RUN, [0, 1])
    assert context.catalogue.runs("hrrr")[0].state == "arriving"


def test_hour_that_needs_another_region_is_no_longer_built(context: Context, scribe: Scribe) -> None:
    scribe.run(RUN, [0])
    scribe.hour(RUN, 0, ["ne"])
    scribe.tile(RUN, 0, "ne")
    context.catalogue.record([RegionsWanted(HourRef("hrrr", RUN, 0), regions=("se",), asked=())])
    assert context.catalogue.hours(REF)[0].state == "ingested"


def test_second_observation_of_a_downloaded_hour_changes_nothing(context: Context, scribe: Scribe) -> None:
    scribe.run(RUN, [0])
    scribe.hour(RUN, 0, ["ne"])
    seen = HourSeen(HourRef("hrrr", RUN, 0), "other", "http://other/file", size=5, etag="x")
    context.catalogue.record([seen])
    hour = context.catalogue.hours(REF)[0]
    assert (hour.state, hour.mirror) == ("ingested", "aws-hrrr")


def test_mirror_health_survives_in_the_catalogue(context: Context) -> None:
    now = datetime(2026, 11, 1, tzinfo=UTC)
    failures = [Observation("aws-hrrr", now + timedelta(seconds=n), ok=False, reason="503") for n in range(3)]
    context.catalogue.record(observations(failures))
    health = context.catalogue.mirrors()["aws-hrrr"]
    assert (health.failures, health.last_reason, health.state(now)) == (3, "503", "open")
    later = Observation("aws-hrrr", now + timedelta(hours=2), ok=True)
    context.catalogue.record(observations([later]))
    assert context.catalogue.mirrors()["aws-hrrr"].state(now + timedelta(hours=2)) == "closed"
