"""A host that is cut off stops its own jobs; what it reports when it is back is refused."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from gribmill.queue.model import Attempt, NewJob
from tests.hosts.cluster import Cluster
from tests.queue.backends import expire_leases
from tests.servers.network import Host
from tests.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.postgres]

STOPPED_ITSELF = "executors of our own"
REFUSED = "is no longer ours: its result is dropped"
BACK = "the queue can be written again"


def attempts_of(cluster: Cluster, job_id: int) -> list[Attempt]:
    return list(cluster.store.jobs.history(job_id).attempts)


def wait_for_line(cluster: Cluster, host: Host, line: str) -> None:
    wait_until(lambda: line in cluster.said(host), 60, f"{host.name} to say {line!r}: {cluster.said(host)[-2000:]}")


def test_host_cut_off_in_the_middle_of_a_download_loses_the_job_and_nothing_else(
    cluster: Cluster, alone: dict[str, bytes]
) -> None:
    cluster.serve("slow:1x2")
    cluster.publish("hrrr")
    victim, *others = cluster.workers
    cluster.start(victim, "run")
    parts = cluster.folder / victim.name / "grib" / "hrrr" / cluster.run_id
    wait_until((parts / ".001.g1.grib2.part").exists, 60, f"the download to begin: {cluster.said(victim)}")
    (job,) = [one for one in cluster.jobs("processing", "ingest_grib") if one.args["hour"] == 1]
    (attempt,) = attempts_of(cluster, job.id)
    for host in others:
        cluster.start(host, "work")

    victim.cut_off()
    wait_for_line(cluster, victim, STOPPED_ITSELF)
    wait_until(lambda: not Path(f"/proc/{attempt.pid}").exists(), what="the executor to be gone")

    def is_done() -> bool:
        cluster.hurry()
        return cluster.store.jobs.get(job.id).status == "completed"

    wait_until(is_done, 120, "another host to do it")
    victim.reconnect()

    wait_for_line(cluster, victim, REFUSED)
    wait_for_line(cluster, victim, BACK)
    first, *_, last = attempts_of(cluster, job.id)
    assert (first.status, last.status) == ("lost", "succeeded")
    assert first.worker_id.startswith(victim.name) and not last.worker_id.startswith(victim.name)
    cluster.wait_complete("hrrr")
    assert cluster.tiles() == {place: data for place, data in alone.items() if place.startswith("hrrr/")}
    assert cluster.store.verify() == []


def test_result_that_was_ready_before_the_lease_ended_is_refused_after_it(cluster: Cluster) -> None:
    victim, other, _ = cluster.workers
    long_leases = {"lease_seconds": 60, "poll_seconds": 0.2}
    cluster.start(victim, "work", queue=long_leases)
    wait_until(cluster.store.workers.list, what="the worker")
    made = cluster.store.jobs.enqueue(NewJob("sleep", {"seconds": 5}))
    wait_until(lambda: cluster.store.jobs.get(made.id).status == "processing", what="the job to start")
    victim.cut_off()
    started = time.monotonic()
    wait_until(lambda: time.monotonic() > started + 6, what="the result")
    expire_leases(cluster.settings().database or "")
    assert cluster.store.maintenance.recover().requeued == (made.id,)
    cluster.hurry("sleep")
    cluster.start(other, "work", queue=long_leases)
    wait_until(lambda: cluster.store.jobs.get(made.id).status == "completed", 60, "the other host to do it")
    victim.reconnect()
    wait_for_line(cluster, victim, REFUSED)
    first, second = attempts_of(cluster, made.id)
    assert (first.status, second.status) == ("lost", "succeeded")
    assert cluster.store.verify() == []
