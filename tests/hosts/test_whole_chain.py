"""From a publisher to tiles in S3, with the queue in PostgreSQL and workers on three hosts."""

from __future__ import annotations

import json

import pytest

from gribmill.queue.model import NewJob
from tests.hosts.cluster import Cluster
from tests.hosts.conftest import BOTH_MODELS
from tests.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.postgres]


def several_have_worked(cluster: Cluster) -> bool:
    """Enqueue one more job unless one is waiting: the first host may be done before the others have started."""
    if not cluster.jobs("pending", "sleep"):
        cluster.store.jobs.enqueue(NewJob("sleep", {"seconds": 0}))
    return len({one.worker_id for one in cluster.attempts() if one.status == "succeeded"}) > 1


def test_three_hosts_build_the_same_bytes_as_one_host_alone(cluster: Cluster, alone: dict[str, bytes]) -> None:
    cluster.serve()
    for model in ("hrrr", "gfs"):
        cluster.publish(model)
    scheduler, *others = cluster.workers
    cluster.start(scheduler, "run", chain=BOTH_MODELS)
    for host in others:
        cluster.start(host, "work", chain=BOTH_MODELS)
    for model in ("hrrr", "gfs"):
        cluster.wait_complete(model)
    assert cluster.tiles() == alone
    assert alone

    assert cluster.store.verify() == []
    names = {host.name for host in cluster.workers}
    wait_until(lambda: {one.hostname for one in cluster.store.workers.list()} == names, what="all hosts to register")
    wait_until(lambda: several_have_worked(cluster), what="a second host to work")
    answer = cluster.finish(others[0], "point", "42.36", "-71.06", "--model", "hrrr", "--json")
    assert answer.returncode == 0 and json.loads(answer.stdout), answer.stderr
