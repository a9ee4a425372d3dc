"""`scan --here` reports what was found, even if a worker runs the scan."""

from __future__ import annotations

import json
from datetime import datetime
from types import SimpleNamespace

import pytest

from gribmill.cli.chain import scan as scan_command
from gribmill.identity import HourRef
from gribmill.pipeline.job_types import ingest_job, scan_job
from gribmill.queue.model import Attempt, ClaimRequest, Failed, Report, Succeeded
from gribmill.queue.store import Store
from tests.chain.conftest import NewChain
from tests.waiting import wait_until


@pytest.mark.process
def test_every_scan_beside_a_worker_is_answered(new_chain: NewChain) -> None:
    chain = new_chain(chain={"models": ["gfs"]})
    chain.publish("gfs")
    chain.start("work")
    wait_until(lambda: any(worker.state == "active" for worker in chain.store.workers.list()))
    for expected in (3, 0):
        done = chain.finish("scan", "gfs", "--here")
        assert done.returncode == 0, done.stderr
        assert f": {expected} new files" in done.stdout
        wait_until(lambda: not chain.jobs("pending", "ingest_grib") and not chain.jobs("processing"))


@pytest.mark.parametrize("good", [True, False])
def test_the_result_of_a_faster_worker_is_waited_for(
    new_chain: NewChain, monkeypatch: pytest.MonkeyPatch, good: bool
) -> None:
    chain = new_chain()
    made = chain.store.jobs.enqueue(scan_job("gfs"))
    (claimed,) = chain.store.claim(ClaimRequest("other", ("scan_source",), 60.0))
    files = tuple(ingest_job(HourRef("gfs", chain.run_id, hour), live=True) for hour in (0, 1))
    outcome = Succeeded(then=files) if good else Failed("no mirror answered", permanent=True)
    waits: list[float] = []

    def report_during_the_second_wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 2:
            chain.store.exchange("other", [Report(claimed.ref, outcome)])

    monkeypatch.setattr(scan_command, "time", SimpleNamespace(sleep=report_during_the_second_wait))
    answer = chain.command("scan", "gfs", "--here", "--json")
    assert len(waits) == 2
    (row,) = json.loads(answer.stdout)
    assert (row["job_id"], row["worker"]) == (made.id, "other")
    if good:
        assert (answer.returncode, row["outcome"], row["files"]) == (0, "succeeded", 2)
    else:
        assert (answer.returncode, row["outcome"], row["note"]) == (1, "failed", "no mirror answered")


def test_scan_that_ends_while_it_is_looked_up_is_found(new_chain: NewChain, monkeypatch: pytest.MonkeyPatch) -> None:
    chain = new_chain()
    made = chain.store.jobs.enqueue(scan_job("gfs"))
    (claimed,) = chain.store.claim(ClaimRequest("other", ("scan_source",), 60.0))
    real = scan_command._ended_since
    found: list[Attempt | None] = []

    def look_up_and_then_report(store: Store, job_id: int, moment: datetime) -> Attempt | None:
        found.append(real(store, job_id, moment))
        if len(found) == 1:
            chain.store.exchange("other", [Report(claimed.ref, Succeeded())])
        return found[-1]

    monkeypatch.setattr(scan_command, "_ended_since", look_up_and_then_report)
    answer = chain.command("scan", "gfs", "--here", "--json")
    assert [one is not None for one in found] == [False, True]
    (row,) = json.loads(answer.stdout)
    assert (answer.returncode, row["job_id"], row["outcome"], row["worker"]) == (0, made.id, "succeeded", "other")
