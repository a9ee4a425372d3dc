"""Following models: when scans start, and when the command may end."""

from __future__ import annotations

from gribmill.catalogue.events import RunSeen
from gribmill.identity import HourRef, RunRef
from gribmill.pipeline.follow import Follow
from gribmill.pipeline.job_types import ingest_job, scan_job
from gribmill.pipeline.scan_schedule import ScanSchedule
from tests.chain.conftest import NewChain


def test_old_complete_run_does_not_end_the_wait_for_the_one_that_is_due(new_chain: NewChain) -> None:
    chain = new_chain()
    follow = Follow(chain.settings)
    chain.context.catalogue.record([RunSeen(RunRef("hrrr", "20200101_00"), hours=())])
    assert not follow._complete()
    chain.publish("hrrr")
    chain.look("hrrr")
    assert follow._complete()


def test_region_that_was_added_is_waited_for(new_chain: NewChain) -> None:
    chain = new_chain(chain={"regions": ["ne"]})
    chain.publish("hrrr")
    chain.look("hrrr")
    assert Follow(chain.settings)._complete()
    chain.chain = {"regions": ["texas"]}
    follow = Follow(chain.settings)
    assert not follow._complete()
    chain.look_only("hrrr", "scan_source", "ingest_grib")
    assert not follow._complete(), "its tiles are only asked for"
    chain.work()
    assert follow._complete()


def test_region_that_others_want_is_not_waited_for(new_chain: NewChain) -> None:
    chain = new_chain(chain={"regions": ["ne"]})
    chain.publish("hrrr")
    chain.look("hrrr")
    chain.store.jobs.enqueue(ingest_job(HourRef("hrrr", chain.run_id, 0), live=False, regions=("texas",)))
    assert Follow(chain.settings)._complete()


def test_model_that_reaches_no_region_is_not_waited_for(new_chain: NewChain) -> None:
    chain = new_chain(chain={"models": ["hrrr", "gfs"], "regions": ["europe"]})
    chain.publish("gfs")
    chain.look("gfs")
    assert Follow(chain.settings)._complete()


def test_schedule_that_starts_wakes_a_scan_that_pauses(new_chain: NewChain) -> None:
    chain = new_chain()
    chain.publish("hrrr", 0)
    chain.look("hrrr")
    (waiting,) = chain.jobs("pending")
    assert waiting.next_run_at is not None
    schedule = ScanSchedule(chain.store, [chain.context.models["hrrr"]])
    schedule.run_once()
    (woken,) = chain.jobs("pending")
    assert (woken.id, woken.next_run_at) == (waiting.id, None)
    assert chain.store.jobs.enqueue(scan_job("hrrr")).created is False
