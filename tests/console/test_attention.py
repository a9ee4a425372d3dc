"""Problems on the overview: each is provoked, shown with its remedy, and fixed by its button."""

from __future__ import annotations

import os
import re
import shutil
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path

import pytest

from gribmill.catalogue.events import MirrorObserved, RunSeen, TileBuilt
from gribmill.catalogue.reads import Catalogue
from gribmill.console.pages.attention import QueueState, troubles_of
from gribmill.console.weather_look import WeatherLook
from gribmill.identity import RunRef, TileRef
from gribmill.pipeline.job_types import TYPES
from gribmill.pipeline.status.health import Health
from gribmill.queue.model import ClaimRequest, Failed, Heartbeat, NewJob, Report
from gribmill.queue.store import Store
from gribmill.queue.store.jobs.listing import JobFilter
from gribmill.settings.schema import ChainSettings
from tests.console.lively_root import store_in_the_past
from tests.console.visits import Visit, visiting
from tests.queue.backends import BOTH
from tests.server.live_server import LiveServer, StartServer, backend_settings, serving

WORKER = "host-1-4711-2f"


@pytest.fixture
def server(start_server: StartServer) -> LiveServer:
    return start_server(dev=True)


def beat(store: Store, **facts: object) -> None:
    kinds = tuple(kind.key for kind in TYPES)
    store.workers.beat(Heartbeat(WORKER, 600.0, kinds, "active", "host-1", "1.0", {"pid": 1, **facts}))


def trouble(page: str, key: str) -> str:
    """The entry of this problem: its text and form."""
    found = re.search(rf'<li data-key="{re.escape(key)}">(.*?)</li>', page, re.DOTALL)
    assert found is not None, re.findall(r'<li data-key="([^"]*)"', page)
    return unescape(found[1])


def press(visit: Visit, entry: str) -> str:
    """Send the form of an entry."""
    action = re.search(r'action="([^"]+)"', entry)
    assert action is not None, entry
    fields = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', entry))
    return visit.post(action[1], fields)


def fill_disk(server: LiveServer) -> None:
    """A run with a sparse file that appears larger than the disk."""
    run = RunRef("hrrr", "20261118_00")
    Catalogue(server.store.database).record([RunSeen(run, (0,)), TileBuilt(TileRef("hrrr", run.run_id, 0, "ne"), 10)])
    tile = server.settings.data_root / "tiles" / "hrrr" / run.run_id / "ne" / "000.npz"
    tile.parent.mkdir(parents=True)
    tile.touch()
    os.truncate(tile, 2 * shutil.disk_usage(tile).total)


def keys(page: str) -> list[str]:
    return re.findall(r'<li data-key="([^"]*)"', page)


def test_a_paused_type_is_resumed(server: LiveServer) -> None:
    server.store.types.pause("build_tile")
    with visiting(server) as visit:
        entry = trouble(visit.page("/"), "paused build_tile")
        assert "The job type build_tile is paused: its jobs do not start." in entry and "Resume it" in entry
        press(visit, entry)
        assert "paused build_tile" not in keys(visit.page("/"))
    assert not server.store.types.paused()


def test_dead_letters_are_retried_after_a_question(server: LiveServer) -> None:
    store = server.store
    for n in range(2):
        store.jobs.enqueue(NewJob("sleep", {"say": str(n)}, max_attempts=1))
        (job,) = store.claim(ClaimRequest(WORKER, ("sleep",), 60.0))
        store.exchange(WORKER, [Report(job.ref, Failed("HTTP 500"), 1, "", "")])
    with visiting(server) as visit:
        entry = trouble(visit.page("/"), "dead letters")
        assert "jobs have failed every attempt" in entry and "fix the cause, then retry" in entry
        asked = press(visit, entry)
        assert "Retry 2 jobs?" in asked
        visit.post("/jobs/bulk", {"action": "retry", "scope": "matching", "status": "dead_letter", "confirmed": "yes"})
        assert "dead letters" not in keys(visit.page("/")), "they were dealt with"
    assert len(store.jobs.list(JobFilter(status="pending")).jobs) == 2


def test_a_stale_worker_is_dismissed_and_its_job_runs_elsewhere(server: LiveServer) -> None:
    job = server.store.jobs.enqueue(NewJob("sleep", {}))
    with store_in_the_past(server.settings, 7200.0) as (past, _):
        beat(past)
        past.jobs.enqueue(NewJob("sleep", {}))
        past.claim(ClaimRequest(WORKER, ("sleep",), 60.0))
    with visiting(server) as visit:
        entry = trouble(visit.page("/"), f"silent {WORKER}")
        assert "has sent no heartbeat for 2 h" in entry and "Restart it on host-1, or dismiss it" in entry
        assert "went back into the queue" in press(visit, entry)
        assert f"silent {WORKER}" not in keys(visit.page("/"))
    assert server.store.jobs.get(job.id).status == "pending"
    assert [one.state for one in server.store.workers.list()] == ["stopped"]


def test_a_queue_without_a_leader_is_noted_until_a_worker_leads(server: LiveServer) -> None:
    beat(server.store)
    with visiting(server) as visit:
        entry = trouble(visit.page("/"), "no leader")
        assert "No worker is the leader" in entry and "If none does, restart one" in entry
        server.store.workers.lead(WORKER, 600.0)
        assert "no leader" not in keys(visit.page("/"))


def test_a_worker_whose_clock_is_off_is_named(server: LiveServer) -> None:
    beat(server.store, clock_offset_seconds=-42.0)
    with visiting(server) as visit:
        entry = trouble(visit.page("/"), f"skew {WORKER}")
        assert f"The clock of worker {WORKER} is 42 s behind the database's." in entry
        assert "Synchronize host-1 with NTP" in entry
        assert "clock off by" in visit.page("/workers")


def test_a_server_whose_clock_is_off_says_so() -> None:
    healthy = WeatherLook((), Health((), 1, 1, 1), (), datetime.now(UTC))
    (one,) = troubles_of(healthy, QueueState(skew_seconds=90.0))
    assert one.cause == "The clocks of this server and the database differ by 1 min 30 s." and "NTP" in one.remedy
    assert troubles_of(healthy, replace(QueueState(), skew_seconds=0.5)) == []


def test_a_full_disk_without_old_runs_has_no_button(server: LiveServer) -> None:
    fill_disk(server)
    with visiting(server) as visit:
        entry = trouble(visit.page("/"), "disk")
        assert "The disk is nearly full" in entry and "No run is old enough to be removed." in entry
        assert "<form" not in entry


def test_the_button_of_a_full_disk_enqueues_a_prune(server: LiveServer) -> None:
    fill_disk(server)
    old = server.settings.data_root / "tiles" / "hrrr" / "20250101_00" / "ne" / "000.npz"
    old.parent.mkdir(parents=True)
    old.write_bytes(bytes(2000))
    os.utime(old, (1.7e9, 1.7e9))
    with visiting(server) as visit:
        entry = trouble(visit.page("/"), "disk")
        assert "Removing 1 old run frees 2.0 kB." in entry
        assert "removes them" in press(visit, entry)
        (job,) = server.store.jobs.list(JobFilter(type="prune")).jobs
        assert "already removes them" in press(visit, entry)
        assert "20250101_00" in visit.page("/storage")
    assert job.status == "pending"


@pytest.mark.parametrize("backend", BOTH)
def test_failing_mirror_is_used_again(backend: str, tmp_path: Path) -> None:
    chain = ChainSettings(models=("hrrr",), regions=("ne",))
    with ExitStack() as resources:
        settings = backend_settings(backend, tmp_path, resources, chain=chain)
        server = resources.enter_context(serving(settings, dev=True))
        moments = [datetime.now(UTC) - timedelta(minutes=m) for m in (9, 8, 7, 6, 5)]
        failed = [MirrorObserved("nomads-hrrr", at, False, "HTTP 503") for at in moments]
        Catalogue(server.store.database).record([MirrorObserved("aws-hrrr", moments[-1], True), *failed])
        with visiting(server) as visit:
            entry = trouble(visit.page("/"), "mirror nomads-hrrr")
            assert "HTTP 503" in entry and "Other mirrors are used instead." in entry
            assert "is in use again" in press(visit, entry)
            assert "mirror nomads-hrrr" not in keys(visit.page("/"))


def test_tenant_sees_no_problems_of_the_machine(server: LiveServer) -> None:
    server.store.types.pause("build_tile")
    beat(server.store, clock_offset_seconds=-42.0)
    with visiting(server, server.token("tenant_admin", "acme")) as visit:
        assert keys(visit.page("/")) == []
