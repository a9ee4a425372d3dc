"""What `gribmill status` prints for incomplete runs."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gribmill.identity import HourRef
from gribmill.pipeline.context import make_context
from gribmill.pipeline.job_types import ingest_job
from gribmill.queue.model import ClaimRequest, Failed, Report
from gribmill.queue.store import Store
from gribmill.settings.schema import Settings
from tests.cli.conftest import Run
from tests.pipeline.conftest import Scribe
from tests.pipeline.status.conftest import Usage

RUN_ID = "20261101_12"


@pytest.fixture
def scribe(data: Path) -> Scribe:
    context = make_context(Settings(data=data))
    return Scribe(context.catalogue, context.root)


def build(scribe: Scribe, hours: Iterable[int], *regions: str) -> None:
    for hour in hours:
        scribe.hour(RUN_ID, hour, regions)
        for region in regions:
            scribe.tile(RUN_ID, hour, region)


def missing(gribmill: Run) -> list[str]:
    lines = gribmill("status", "hrrr").out.splitlines()
    return [line.partition("missing: ")[2] for line in lines if "missing: " in line]


def test_hours_that_are_here_are_not_among_the_missing(gribmill: Run, scribe: Scribe) -> None:
    scribe.run(RUN_ID, [*range(19)])
    build(scribe, (0, 6, 12, 18), "ne")
    assert missing(gribmill) == ["1-5, 7-11, 13-17 late"]


def test_hours_that_a_run_does_not_have_do_not_split_ranges(gribmill: Run, scribe: Scribe) -> None:
    scribe.run(RUN_ID, [*range(0, 19, 3)])
    build(scribe, (0, 9), "ne")
    assert missing(gribmill) == ["3-6, 12-18 late"]


def test_hours_with_the_same_reason_are_grouped(gribmill: Run, scribe: Scribe) -> None:
    scribe.run(RUN_ID, [*range(5)])
    build(scribe, [0], "ne")
    scribe.hour(RUN_ID, 2, ["ne"])
    assert missing(gribmill) == ["1, 3-4 late; 2 downloaded, tiles missing"]


def test_regions_are_named_where_not_all_of_them_lack_the_hour(
    gribmill: Run, scribe: Scribe, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRIBMILL_CHAIN_MODELS", "hrrr")
    monkeypatch.setenv("GRIBMILL_CHAIN_REGIONS", "ne,texas")
    scribe.run(RUN_ID, [*range(4)])
    build(scribe, [0], "ne", "texas")
    build(scribe, [1, 2], "ne")
    answer = gribmill("status", "hrrr")
    assert f"{RUN_ID}  1/4 hours  4/8 tiles" in answer.out
    assert answer.code == 1
    assert missing(gribmill) == ["1-2 downloaded, tiles missing (texas); 3 late"]


def test_the_first_line_says_that_no_worker_runs_and_the_exit_code_is_1(gribmill: Run, scribe: Scribe) -> None:
    scribe.run(RUN_ID, [0])
    build(scribe, [0], "ne")
    answer = gribmill("status", "hrrr")
    assert answer.code == 1
    assert answer.out.splitlines()[0].startswith("not well: no worker is running")


def test_all_well_is_the_first_line_and_the_exit_code_is_0(
    gribmill: Run, scribe: Scribe, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = datetime(2026, 11, 1, 12, 55, tzinfo=UTC)
    monkeypatch.setattr("gribmill.pipeline.status.status.datetime", type("Fixed", (datetime,), {"now": lambda tz: now}))
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(10**12, 0, 10**12))
    store.workers.heartbeat("host-1-ab", 60, types=["scan_source", "ingest_grib", "build_tile", "publish"])
    scribe.run(RUN_ID, [0])
    build(scribe, [0], "ne")
    answer = gribmill("status", "hrrr")
    assert answer.out.splitlines()[0] == "all well: hrrr whole; 1 worker; 1.0 TB free"
    assert answer.code == 0


def test_missing_hours_show_attempts_and_failures(gribmill: Run, scribe: Scribe, store: Store) -> None:
    scribe.run(RUN_ID, [0, 1])
    build(scribe, [0], "ne")
    error = f"hrrr {RUN_ID} hour 1: aws-hrrr: https://x.example/y.grib2: the body does not match its checksum"
    job = ingest_job(HourRef("hrrr", RUN_ID, 1), live=True)
    store.jobs.enqueue(job)
    for tries in ("tried once", "tried 2 times"):
        (claimed,) = store.claim(ClaimRequest("host-1-ab", ("ingest_grib",), 60))
        store.exchange("host-1-ab", [Report(claimed.ref, Failed(error))])
        (text,) = missing(gribmill)
        assert text.startswith(f"1 late: {tries}, aws-hrrr: the body does not match its checksum, again ")
        store.jobs.run_now(claimed.id)


def test_tried_hours_have_one_line_per_reason(gribmill: Run, scribe: Scribe, store: Store) -> None:
    scribe.run(RUN_ID, [*range(5)])
    build(scribe, [0], "ne")
    for hour, reason in ((1, "returned 500"), (3, "the connection was refused")):
        store.jobs.enqueue(ingest_job(HourRef("hrrr", RUN_ID, hour), live=True))
        (claimed,) = store.claim(ClaimRequest("host-1-ab", ("ingest_grib",), 60))
        failed = f"hrrr {RUN_ID} hour {hour}: aws-hrrr: https://x.example/y.grib2: {reason}"
        store.exchange("host-1-ab", [Report(claimed.ref, Failed(failed))])
    others, *tried = missing(gribmill)
    assert others == "2, 4 late"
    assert [text.partition(",")[0] for text in tried] == ["1 late: tried once", "3 late: tried once"]


def test_data_root_that_does_not_exist_is_named(gribmill: Run, data: Path, store: Store) -> None:
    assert "does not exist" not in gribmill("status").out
    typo = f"{data}_typo"
    assert gribmill("--data", typo, "status").out.endswith(f" at {typo}, which does not exist\n")
    doctor = {one["check"]: one for one in gribmill("--data", typo, "doctor", "--json").json}
    assert doctor["permissions"]["detail"] == f"{typo} did not exist"
