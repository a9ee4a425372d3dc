"""Workers without a database connection get their jobs from a server and build the same tiles."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from gribmill.access.tokens import Tokens
from gribmill.pipeline.job_types import scan_job
from gribmill.queue.model import NewJob
from tests.chain.chain_driver import ChainDriver, environment, toml_of
from tests.chain.conftest import NewChain, of_model
from tests.queue.backends import BOTH, new_address
from tests.server.live_server import LiveServer, serving
from tests.waiting import wait_until

pytestmark = pytest.mark.process

RESTARTS = 2


class RemoteHost:
    """Another machine with settings, a data root and a token, but no database."""

    def __init__(self, chain: ChainDriver, token: str) -> None:
        self.chain = chain
        self.root = chain.root / "host"
        self.root.mkdir()
        values = chain.settings.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
        values.pop("database", None)
        self._config = self.root / "gribmill.toml"
        self._config.write_text(toml_of({**values, "data": str(self.root / "data")}))
        self._environment = {**environment(), "GRIBMILL_TOKEN": token}
        self._started: list[subprocess.Popen[bytes]] = []

    def words(self, url: str, *words: str) -> list[str]:
        python = [sys.executable, "-m", "gribmill.cli.main", "--config", str(self._config)]
        return [*python, "work", "--server", url, *words]

    def start(self, url: str, *words: str) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as output:
            worker = subprocess.Popen(
                self.words(url, *words), stdout=output, stderr=output, env=self._environment, cwd=self.root
            )
        self._started.append(worker)
        return worker

    def finish(self, url: str, *words: str, token: str | None = None) -> subprocess.CompletedProcess[str]:
        env = self._environment if token is None else {**self._environment, "GRIBMILL_TOKEN": token}
        return subprocess.run(self.words(url, *words), capture_output=True, text=True, env=env, timeout=120)

    @property
    def log(self) -> Path:
        return self.root / "worker.log"

    def tiles(self) -> dict[str, bytes]:
        data = self.root / "data"
        return {str(path.relative_to(data)): path.read_bytes() for path in sorted(data.glob("tiles/*/*/*/*.npz"))}

    def close(self) -> None:
        for worker in self._started:
            if worker.poll() is None:
                worker.kill()
            worker.wait()


class Site:
    """A chain, its server, and a remote worker host."""

    def __init__(self, chain: ChainDriver, resources: ExitStack) -> None:
        self.chain = chain
        self._resources = resources
        self.host = RemoteHost(chain, Tokens(chain.store.database).create("host", "worker").text)
        resources.callback(self.host.close)

    def serve(self) -> LiveServer:
        return self._resources.enter_context(serving(self.chain.settings))


@pytest.fixture(params=BOTH)
def site(request: pytest.FixtureRequest, new_chain: NewChain, tmp_path: Path) -> Iterator[Site]:
    with ExitStack() as resources:
        changes = database_of(request.param, tmp_path, resources)
        yield Site(new_chain(changes=changes), resources)


@pytest.fixture(params=BOTH)
def site_with_short_leases(request: pytest.FixtureRequest, new_chain: NewChain, tmp_path: Path) -> Iterator[Site]:
    with ExitStack() as resources:
        changes = database_of(request.param, tmp_path, resources)
        changes["queue"] = {"lease_seconds": 6, "poll_seconds": 0.2}
        yield Site(new_chain(changes=changes), resources)


def database_of(backend: str, folder: Path, resources: ExitStack) -> dict[str, Any]:
    return {"database": resources.enter_context(new_address(backend, folder))} if backend == "postgres" else {}


def test_worker_without_a_database_runs_the_chain(site: Site, reference: dict[str, bytes]) -> None:
    chain, server = site.chain, site.serve()
    chain.publish("hrrr")
    chain.store.jobs.enqueue(scan_job("hrrr"))
    worker = site.host.start(server.url)
    chain.wait_complete("hrrr")
    assert site.host.tiles() == of_model(reference, "hrrr")
    assert not [*site.host.root.rglob("jobs.db*")], "the host needs no database"
    (known,) = chain.store.workers.list()
    assert known.state == "active" and known.metadata["pid"] == worker.pid
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(60) == 0, site.host.log.read_text()
    assert chain.store.workers.list()[0].state == "stopped"
    assert chain.store.verify() == []


def test_remote_workers_that_are_killed_lose_nothing(site: Site, reference: dict[str, bytes]) -> None:
    chain, server = site.chain, site.serve()
    chain.publish("hrrr")
    chain.store.jobs.enqueue(scan_job("hrrr"))
    for _ in range(RESTARTS):
        worker = site.host.start(server.url)
        wait_until(lambda: chain.jobs("processing") or chain.complete("hrrr"), 60, f"work: {chain.counts()}")
        worker.kill()
        worker.wait()
        chain.lose_running()
        chain.hurry("scan_source")
    site.host.start(server.url)
    wait_until(
        lambda: chain.hurry("scan_source", "ingest_grib", "build_tile", "publish") * 0 + chain.complete("hrrr"),
        120,
        "the rest",
    )
    chain.wait_complete("hrrr")
    assert site.host.tiles() == of_model(reference, "hrrr")
    assert chain.store.verify() == []


def test_worker_that_is_cut_off_stops_its_job_and_recovers(site_with_short_leases: Site) -> None:
    site = site_with_short_leases
    chain = site.chain
    job_id = chain.store.jobs.enqueue(NewJob("sleep", {"seconds": 600}, max_attempts=5)).id
    with serving(chain.settings) as first:
        worker = site.host.start(first.url)
        wait_until(lambda: chain.jobs("processing"), 60, "the job to run")
        port = int(first.url.rpartition(":")[2])
    wait_until(lambda: "stopped 1 executors" in site.host.log.read_text(), 60, "the worker to stop its own job")
    assert worker.poll() is None, "the worker outlives the server"
    with serving(chain.settings, port=port):
        # Its report on the first attempt is too late or counts once, never twice.
        wait_until(lambda: chain.store.jobs.get(job_id).attempt_no > 1, 60, "another attempt")
        chain.store.jobs.cancel(job_id)
        wait_until(lambda: chain.store.jobs.get(job_id).status == "cancelled", 60, "the end of the job")
    assert chain.store.verify() == []


def test_server_and_token_are_checked_before_work_begins(site: Site) -> None:
    chain, server = site.chain, site.serve()
    viewer = server.token("tenant_viewer", "acme")
    for url, token, sentence in (
        (server.url, "gm_wrong", "token"),
        (server.url, viewer, "needs worker"),
        ("http://gribmill.example.org", viewer, "use https"),
        ("ftp://127.0.0.1", viewer, "not the address of a server"),
    ):
        done = site.host.finish(url, "--drain", token=token)
        assert done.returncode != 0 and sentence in done.stderr, done.stderr
        assert "Traceback" not in done.stderr
    assert not chain.store.workers.list()


def test_remote_worker_drains(site: Site) -> None:
    server = site.serve()
    made = [site.chain.store.jobs.enqueue(NewJob("sleep", {"seconds": 0})).id for _ in range(3)]
    done = site.host.finish(server.url, "--drain")
    assert done.returncode == 0 and "finished 3 attempts" in done.stderr, done.stderr
    assert [site.chain.store.jobs.get(job_id).status for job_id in made] == ["completed"] * 3
