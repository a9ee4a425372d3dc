"""Two tenants on one chain: each file is downloaded and decoded once, and cut for the regions of both."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from gribmill.identity import RunRef
from gribmill.pipeline.job_types import ingest_job, scan_job
from gribmill.pipeline.tenant_regions import wanted_regions
from gribmill.queue.model import Claimed, ClaimRequest, NewJob, NewTenant, Report, Snoozed
from tests.chain.chain_driver import ChainDriver
from tests.chain.conftest import NewChain, of_model


@pytest.fixture
def chain(new_chain: NewChain) -> ChainDriver:
    chain = new_chain(chain={"regions": []})
    chain.store.tenants.add(NewTenant("north", regions=("ne",)))
    chain.store.tenants.add(NewTenant("south", regions=("texas",)))
    return chain


def backfill(chain: ChainDriver, tenant: str, model: str, *words: str) -> str:
    done = chain.command("backfill", model, "--from", chain.run_id, "--to", chain.run_id, "--tenant", tenant, *words)
    return done.stdout if done.returncode == 0 else done.stderr


def _request() -> ClaimRequest:
    return ClaimRequest("me", ("ingest_grib",), 60.0)


def _put_back(job: Claimed) -> Report:
    return Report(job.ref, Snoozed(0))


def downloads(chain: ChainDriver) -> set[int]:
    """How many times each message was fetched."""
    messages = (one for one in chain.fetched() if not one.key.endswith((".idx", ".index")))
    return {*Counter((one.key.partition("/")[2], one.range) for one in messages).values()}


def test_live_files_are_downloaded_and_decoded_once_for_both(chain: ChainDriver, reference: dict[str, bytes]) -> None:
    chain.publish("hrrr")
    chain.look("hrrr")
    assert chain.tiles() == of_model(reference, "hrrr")
    assert chain.counts()["ingest_grib", "completed"] == 3
    assert downloads(chain) == {1}
    tiles = chain.jobs(type_key="build_tile")
    assert {*Counter(job.batch_id for job in tiles).values()} == {2}, "both regions of an hour are one batch"
    chain.assert_sound()


def test_backfills_of_two_tenants_take_turns(chain: ChainDriver) -> None:
    for model in ("gfs", "hrrr"):
        chain.publish(model)
    assert "enqueued 3 files" in backfill(chain, "north", "gfs")
    assert "enqueued 3 files" in backfill(chain, "south", "hrrr")
    ran = [one.job for one in chain.work() if one.job.type == "ingest_grib"]
    assert [job.claimant for job in ran] == ["north", "south"] * 3
    assert {job.tenant_id for job in ran} == {"global"}
    regions = {place.split("/")[1]: place.split("/")[3] for place in chain.tiles()}
    assert regions == {"gfs": "ne", "hrrr": "texas"}
    chain.assert_sound()


def test_large_backfill_of_one_tenant_does_not_delay_a_live_run(chain: ChainDriver) -> None:
    for model in ("gfs", "hrrr"):
        chain.publish(model)
    backfill(chain, "north", "gfs")
    assert len(chain.work(1)) == 1
    live = [one.job for one in chain.look("hrrr") if one.job.type in ("ingest_grib", "build_tile")]
    models = [json.loads(job.args)["model_id"] for job in live]
    assert models.index("gfs") > max(place for place, name in enumerate(models) if name == "hrrr")


@pytest.mark.parametrize("begun", [False, True])
def test_file_that_both_backfills_want_is_downloaded_once(
    chain: ChainDriver, reference: dict[str, bytes], begun: bool
) -> None:
    """The second request joins the first; one made during the download waits for its end."""
    chain.publish("hrrr", 0)
    backfill(chain, "north", "hrrr", "--hours", "0")
    if begun:
        (running,) = chain.store.claim(_request())
        assert running.claimant == "north"
    backfill(chain, "south", "hrrr", "--hours", "0")
    jobs = chain.jobs(type_key="ingest_grib")
    assert len(jobs) == (2 if begun else 1)
    if begun:
        chain.store.exchange("me", [_put_back(running)])
    chain.work()
    wanted = {place for place in of_model(reference, "hrrr") if place.endswith(("/000.npz", "/grid.npz"))}
    assert {*chain.tiles()} == wanted
    if not begun:
        assert downloads(chain) == {1}
        assert jobs[0].requested_by is None, "it takes nobody's turn any more"
    chain.assert_sound()


def test_tenant_over_its_disk_limit_gets_no_tiles_and_sees_the_limit(
    chain: ChainDriver, caplog: pytest.LogCaptureFixture
) -> None:
    chain.publish("hrrr")
    chain.publish("gfs")
    chain.look("hrrr")
    chain.store.tenants.edit("north", max_disk_bytes=1000)
    assert wanted_regions(chain.context) == ("texas",)
    assert "its limit is 1000 (max_disk_bytes)" in caplog.text
    chain.look("gfs")
    assert {place.split("/")[3] for place in chain.tiles("gfs")} == {"texas"}
    assert "its limit is 1000 (max_disk_bytes)" in backfill(chain, "north", "gfs")
    assert "enqueued" in backfill(chain, "south", "gfs", "--regions", "ne"), "another tenant's disk is not full"


def test_backfill_refused_by_a_limit_names_it(chain: ChainDriver) -> None:
    chain.publish("gfs")
    chain.store.tenants.edit("north", max_pending=2)
    assert "tenant north may have 2 pending jobs at most (max_pending)" in backfill(chain, "north", "gfs")
    assert chain.jobs() == []
    chain.store.tenants.edit("north", max_pending=None, max_per_minute=2)
    assert "tenant north may enqueue 2 jobs a minute at most (max_per_minute)" in backfill(chain, "north", "gfs")
    chain.store.tenants.edit("north", max_per_minute=None, max_running=1)
    backfill(chain, "north", "gfs")
    assert len(chain.store.claim(_request())) == 1
    assert chain.store.claim(_request()) == ()
    shown = chain.command("jobs", "list", "--queue").stdout
    assert "tenant limit: 1 in flight at once" in shown
    assert "there is no tenant 'west'" in backfill(chain, "west", "gfs")
    chain.store.tenants.add(NewTenant("east"))
    assert "tenant east has no regions" in backfill(chain, "east", "gfs")


@pytest.mark.slow
def test_backfill_of_100_000_files_delays_others_by_one_job(chain: ChainDriver) -> None:
    def files(tenant: str, year: int, runs: int, hours: int) -> list[NewJob]:
        days = (datetime(year, 1, 1, tzinfo=UTC) + timedelta(days=n) for n in range(runs))
        refs = (RunRef("gfs", f"{day:%Y%m%d}_00") for day in days)
        return [ingest_job(ref.hour(hour), live=False, tenant=tenant) for ref in refs for hour in range(hours)]

    chain.store.jobs.enqueue_many(files("north", 2020, 1000, 100))
    assert [one.job.claimant for one in chain.work(1)] == ["north"]
    chain.store.jobs.enqueue_many(files("south", 2025, 3, 1))
    turns = [one.job.claimant for one in chain.work(6)]
    assert turns in (["south", "north"] * 3, ["north", "south"] * 3)
    chain.publish("hrrr")
    chain.store.jobs.enqueue(scan_job("hrrr"))
    live = [json.loads(one.job.args)["model_id"] for one in chain.work(7)]
    assert live == ["hrrr"] * 7, "the scan, its three files and their tiles come before the next file of the backfill"
