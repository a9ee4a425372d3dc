"""Every cause of a late region, provoked with a real publisher; and every documented event, published once."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gribmill.pipeline.status.watch import ChainWatch
from gribmill.queue.model import ClaimRequest, NewJob
from gribmill.sandbox.publisher.fault import Fault
from gribmill.views.queue.event import PAYLOADS
from tests.chain.chain_driver import ChainDriver
from tests.chain.conftest import NewChain
from tests.documented_events import undocumented
from tests.pipeline.webhook_receiver import Receiver, receiving
from tests.waiting import wait_until

CHAIN = ("scan_source", "ingest_grib", "build_tile", "publish", "deliver_webhook")


def check(chain: ChainDriver, *, worker: bool = True) -> tuple[int, str]:
    """The exit code of `status --check`, and what it says about the regions."""
    if worker:
        chain.store.workers.heartbeat("host-1-ab", 60, types=CHAIN)
    answer = chain.command("status", "--check")
    return answer.returncode, answer.stdout.partition(" | ")[0]


def publisher_late(chain: ChainDriver) -> None:
    chain.publish("hrrr", 0, 1)
    chain.look("hrrr")


def mirror_sick(chain: ChainDriver) -> None:
    chain.server.stop()
    for _ in range(4):
        chain.look("hrrr")


def download_failing(chain: ChainDriver) -> None:
    chain.faults.faults = (Fault("flip", keys="*-hrrr/*wrfsfcf00*"),)
    chain.publish("hrrr")
    chain.look("hrrr")


def build_failing(chain: ChainDriver) -> None:
    chain.publish("hrrr")
    chain.look_only("hrrr", "scan_source", "ingest_grib")
    place = chain.data / "tiles" / "hrrr" / chain.run_id
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("a file in place of the folder")
    chain.work()


def paused(chain: ChainDriver) -> None:
    chain.publish("hrrr")
    assert chain.command("jobs", "pause", "build_tile").returncode == 0
    chain.look("hrrr")


CAUSES: dict[str, Callable[[ChainDriver], None]] = {
    "publisher late": publisher_late,
    "mirror sick": mirror_sick,
    "download failing": download_failing,
    "build failing": build_failing,
    "paused": paused,
}


@pytest.mark.parametrize("cause", CAUSES)
def test_late_region_names_its_cause(new_chain: NewChain, cause: str) -> None:
    chain = new_chain(late_minutes=0)
    CAUSES[cause](chain)
    code, line = check(chain)
    assert (code, f"hrrr ne, texas late: {cause}" in line) == (1, True), line


def test_check_is_well_then_critical_without_a_worker_and_unknown_without_settings(
    new_chain: NewChain, tmp_path: Path
) -> None:
    chain = new_chain(late_minutes=0)
    chain.publish("hrrr")
    chain.look("hrrr")
    assert check(chain) == (0, "GRIBMILL OK - 1 model, 2 regions up to date")
    chain.store.workers.heartbeat("host-1-ab", 60, types=CHAIN, state="stopped")
    code, line = check(chain, worker=False)
    assert code == 2 and "no worker is running" in line
    (tmp_path / "broken.toml").write_text("[chain\n")
    answer = chain.command("--config", str(tmp_path / "broken.toml"), "status", "--check")
    assert answer.returncode == 3


def test_every_documented_event_is_published_in_real_conditions(
    new_chain: NewChain, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The chain and its failures publish each documented event at least once, with its payload."""
    chain = new_chain(late_minutes=0, changes={"webhooks": {"allow_private": True}})
    store = chain.store
    for name in ("attempt.metered", "tile.built"):
        store.events.record(name, wanted=True)
    watch = ChainWatch(chain.context, [chain.context.models["hrrr"]], store)
    _model_events(chain, watch, monkeypatch)
    _mirror_events(chain)
    _job_events(chain)
    _disk_events(watch, monkeypatch)
    _webhook_events(chain)
    found = [(event.name, event.payload) for event in store.events.list(limit=1000)]
    assert undocumented(found) == []
    assert {name for name, _ in found} == {*PAYLOADS}
    chain.assert_sound()


def _model_events(chain: ChainDriver, watch: ChainWatch, patch: pytest.MonkeyPatch) -> None:
    """Late at first, then stale, then up to date; with them all that happens to a run. Another run is given up."""
    chain.publish("hrrr", 0)
    chain.look("hrrr")
    chain.store.workers.heartbeat("host-1-ab", 60, types=CHAIN)
    watch.run_once()
    with closing(sqlite3.connect(chain.data / "jobs.db")) as rows, rows:
        rows.execute("UPDATE runs SET first_seen_at = '2020-01-01 00:00:00.000'")  # followed for long
    begun = chain.forecasts.run
    with patch.context() as later:
        later.setattr(watch, "_clock", lambda: begun + timedelta(hours=10))
        watch.run_once()
    chain.publish("hrrr")
    chain.look("hrrr")
    watch.run_once()
    chain.publish("gfs", 0)
    chain.look("gfs")

    class Later(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return begun + timedelta(hours=23)

    with patch.context() as later:
        later.setattr("gribmill.pipeline.handlers.scan_source.datetime", Later)
        chain.look("gfs")


def _mirror_events(chain: ChainDriver) -> None:
    chain.faults.faults = (Fault("500", keys="*-ecmwf/*"),)
    chain.publish("ifs")
    chain.look("ifs")
    chain.hurry("ingest_grib")
    chain.work()
    assert chain.command("mirrors", "clear").returncode == 0


def _job_events(chain: ChainDriver) -> None:
    store = chain.store
    store.jobs.enqueue(NewJob("sleep", {"fail": "always"}, max_attempts=1))
    chain.work()
    store.jobs.enqueue(NewJob("sleep"))
    store.workers.heartbeat("host-9-dead", 60)
    assert store.claim(ClaimRequest("host-9-dead", ("sleep",), 0.1))
    wait_until(lambda: store.maintenance.recover().requeued, what="the lease to run out")


def _disk_events(watch: ChainWatch, patch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage("/")
    with patch.context() as full:
        full.setattr(shutil, "disk_usage", lambda path: usage._replace(free=1))
        watch.run_once()
    with patch.context() as empty:
        empty.setattr(shutil, "disk_usage", lambda path: usage._replace(free=usage.total))
        watch.run_once()


def _webhook_events(chain: ChainDriver) -> None:
    with receiving(Receiver()) as receiver:
        receiver.status = 410
        webhook = chain.store.webhooks.add(receiver.url, ["nothing"])
        chain.store.webhooks.test(webhook.id)
        chain.work()
    assert len(receiver.got) == 1
