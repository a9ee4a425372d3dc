"""From a publisher to tiles in S3, with the queue in PostgreSQL and workers on three hosts."""

from __future__ import annotations

import json

import pytest

from tests.hosts.cluster import Cluster
from tests.hosts.conftest import BOTH_MODELS

pytestmark = [pytest.mark.process, pytest.mark.postgres]


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
    assert {one.hostname for one in cluster.store.workers.list()} == {host.name for host in cluster.workers}
    assert len({one.worker_id for one in cluster.attempts() if one.status == "succeeded"}) > 1, "several hosts worked"
    answer = cluster.finish(others[0], "point", "42.36", "-71.06", "--model", "hrrr", "--json")
    assert answer.returncode == 0 and json.loads(answer.stdout), answer.stderr
