"""Following: when it begins to look, and when it may end."""

from __future__ import annotations

from gribmill.catalogue.events import RunSeen
from gribmill.identity import RunRef
from gribmill.pipeline.follow import Follow
from gribmill.pipeline.handlers.ingest_grib import ingest_job
from gribmill.pipeline.scan_schedule import Schedule, scan_job
from tests.chain.conftest import NewWorld


def test_old_complete_run_does_not_end_the_wait_for_the_one_that_is_due(new_world: NewWorld) -> None:
    world = new_world()
    follow = Follow(world.settings)
    world.context.catalogue.record([RunSeen(RunRef("hrrr", "20200101_00"), hours=())])
    assert not follow._complete()
    world.publish("hrrr")
    world.look("hrrr")
    assert follow._complete()


def test_region_that_was_added_is_waited_for(new_world: NewWorld) -> None:
    world = new_world(chain={"regions": ["ne"]})
    world.publish("hrrr")
    world.look("hrrr")
    assert Follow(world.settings)._complete()
    world.chain = {"regions": ["texas"]}
    follow = Follow(world.settings)
    assert not follow._complete()
    world.look_only("hrrr", "scan_source", "ingest_grib")
    assert not follow._complete(), "its tiles are only asked for"
    world.work()
    assert follow._complete()


def test_region_that_others_want_is_not_waited_for(new_world: NewWorld) -> None:
    world = new_world(chain={"regions": ["ne"]})
    world.publish("hrrr")
    world.look("hrrr")
    world.store.jobs.enqueue(ingest_job("hrrr", world.stock.run, 0, live=False, regions=("texas",)))
    assert Follow(world.settings)._complete()


def test_model_that_reaches_no_region_is_not_waited_for(new_world: NewWorld) -> None:
    world = new_world(chain={"models": ["hrrr", "gfs"], "regions": ["europe"]})
    world.publish("gfs")
    world.look("gfs")
    assert Follow(world.settings)._complete()


def test_schedule_that_starts_wakes_a_scan_that_pauses(new_world: NewWorld) -> None:
    world = new_world()
    world.publish("hrrr", 0)
    world.look("hrrr")
    (waiting,) = world.jobs("pending")
    assert waiting.next_run_at is not None
    schedule = Schedule(world.store, [world.context.models["hrrr"]])
    schedule.run_once()
    (woken,) = world.jobs("pending")
    assert (woken.id, woken.next_run_at) == (waiting.id, None)
    assert world.store.jobs.enqueue(scan_job("hrrr")).created is False
