"""Hosts whose clocks are wrong build the same tiles: the database's time decides. The wrong clocks are reported."""

from __future__ import annotations

import re

import pytest

from tests.hosts.cluster import Cluster
from tests.servers.skewed_clock import skewed_clock
from tests.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.postgres]

# S3 refuses requests that are signed more than 15 minutes off.
AHEAD, BEHIND = 600, -600
LONG_LEASES = {"lease_seconds": 30, "poll_seconds": 0.2}
# The time that reading the database's clock takes counts too; on a busy machine it is more than a second.
SLOWNESS_SECONDS = 60


def says(text: str, side: str) -> bool:
    """Whether a clock is said to be ahead of or behind the database's by as much as it is."""
    found = re.findall(rf"clock (?:of this host )?is (\d+) s {side} the database's", text)
    return bool(found) and all(int(one) == pytest.approx(AHEAD, abs=SLOWNESS_SECONDS) for one in found)


def test_hosts_whose_clocks_differ_by_twenty_minutes_build_the_same_tiles(
    cluster: Cluster, alone: dict[str, bytes]
) -> None:
    ahead, behind, right = cluster.workers
    cluster.variables[ahead.name] = skewed_clock(cluster.folder, AHEAD)
    cluster.variables[behind.name] = skewed_clock(cluster.folder, BEHIND)
    cluster.serve()
    cluster.publish("hrrr")
    for host, command in ((ahead, "run"), (behind, "work")):
        cluster.start(host, command, queue=LONG_LEASES)
    cluster.wait_complete("hrrr")
    assert cluster.tiles() == {place: data for place, data in alone.items() if place.startswith("hrrr/")}
    assert cluster.store.verify() == []
    assert says(cluster.said(ahead), "ahead of")
    wait_until(lambda: says(cluster.said(behind), "behind"), what="the other to say so too")
    assert not [one for one in cluster.attempts() if one.status == "lost"], "leases go by the database's time"
    for host in (ahead, right):
        answer = cluster.finish(host, "workers", queue=LONG_LEASES)
        assert "stale" not in answer.stdout, answer.stdout
        assert says(answer.stderr, "ahead of") and says(answer.stderr, "behind"), answer.stderr
        assert "; run NTP there" in answer.stderr
        assert answer.stdout.count("yes") == 1, "one of them leads"
