"""`scan --here` reports what was found, even if a worker runs the scan."""

from __future__ import annotations

import json
import threading

import pytest

from gribmill.identity import HourRef
from gribmill.pipeline.job_types import ingest_job, scan_job
from gribmill.pipeline.open_queue import open_queue
from gribmill.queue.model import Claimed, ClaimRequest, Failed, Outcome, Report, Succeeded
from tests.chain.chain_driver import ChainDriver
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


def report_later(chain: ChainDriver, claimed: Claimed, outcome: Outcome) -> threading.Timer:
    """Let the worker `other` finish its scan after a moment."""

    def report() -> None:
        store = open_queue(chain.settings)
        store.exchange("other", [Report(claimed.ref, outcome)])
        store.close()

    timer = threading.Timer(0.5, report)
    timer.start()
    return timer


@pytest.mark.parametrize("good", [True, False])
def test_the_result_of_a_faster_worker_is_waited_for(new_chain: NewChain, good: bool) -> None:
    chain = new_chain()
    made = chain.store.jobs.enqueue(scan_job("gfs"))
    (claimed,) = chain.store.claim(ClaimRequest("other", ("scan_source",), 60.0))
    files = tuple(ingest_job(HourRef("gfs", chain.run_id, hour), live=True) for hour in (0, 1))
    outcome = Succeeded(then=files) if good else Failed("no mirror answered", permanent=True)
    timer = report_later(chain, claimed, outcome)
    answer = chain.command("scan", "gfs", "--here", "--json")
    timer.join()
    (row,) = json.loads(answer.stdout)
    assert (row["job_id"], row["worker"]) == (made.id, "other")
    if good:
        assert (answer.returncode, row["outcome"], row["files"]) == (0, "succeeded", 2)
    else:
        assert (answer.returncode, row["outcome"], row["note"]) == (1, "failed", "no mirror answered")
