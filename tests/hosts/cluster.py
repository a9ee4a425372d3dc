"""A cluster: a database host, a host with the object store and the publisher, and worker hosts."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gribmill.pipeline.context import Context, make_context
from gribmill.pipeline.open_queue import open_queue
from gribmill.queue.model import Attempt, Job
from gribmill.queue.store import Store
from gribmill.queue.store.jobs.listing import JobFilter
from gribmill.settings.schema import Settings
from tests.chain.chain_driver import environment, toml_of
from tests.chain.sample_forecasts import SampleForecasts, tables
from tests.servers.network import Host
from tests.servers.postgres import PostgresServer
from tests.servers.seaweed import KEY, SECRET
from tests.servers.shared_postgres import with_database
from tests.waiting import wait_until

PUBLISHER_PORT = 8750
CHECKOUT = Path(__file__).parents[2]
LEASE_SECONDS = 4.0
KEYS = {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_EC2_METADATA_DISABLED": "true"}


@dataclass
class Cluster:
    """The cluster of one test. Workers reach the database by its address, the test by a socket."""

    folder: Path
    hosts: dict[str, Host]
    server: PostgresServer
    database: str
    endpoint: str
    forecasts: SampleForecasts
    url: str | None = None
    """How workers reach the database, where that is not the server's address alone."""
    variables: dict[str, dict[str, str]] = field(default_factory=dict)
    """Of the environment, by the name of a host."""
    _store: Store | None = field(default=None, init=False)

    @property
    def workers(self) -> list[Host]:
        return [host for name, host in self.hosts.items() if name.startswith("worker")]

    @property
    def publisher(self) -> Host:
        return self.hosts["store"]

    @property
    def run_id(self) -> str:
        return self.forecasts.run_id

    def settings(self, host: Host | None = None, **changes: Any) -> Settings:
        """The settings of a worker host, or of the test itself."""
        inside, outside = self.server.network_url(self.database), with_database(self.server.url(), self.database)
        values = {
            "data": self.folder / (host.name if host else "test"),
            "database": (self.url or inside) if host else outside,
            "tiles": f"s3://tiles/{self.database}/tiles",
            "spool": f"s3://tiles/{self.database}/grib",
            "store": {"endpoint": self.endpoint},
            "queue": {"lease_seconds": LEASE_SECONDS, "poll_seconds": 0.2},
            "workers": {"lanes": {"fetch": 1, "build": 1}},
            "chain": {"models": ["hrrr"], "regions": ["ne", "texas"], "runs_back": 1},
            "models": tables(self.forecasts.run, f"http://{self.publisher.address}:{PUBLISHER_PORT}/"),
        }
        return Settings.model_validate({name: value for name, value in {**values, **changes}.items() if value})

    def words(self, host: Host, words: tuple[str, ...], changes: dict[str, Any]) -> list[str]:
        """A gribmill command with the host's settings."""
        config = self.folder / f"{host.name}-{len(words)}-{abs(hash(str(changes))) % 10**6}.toml"
        values = self.settings(host, **changes).model_dump(mode="json", exclude_none=True, exclude_defaults=True)
        config.write_text(toml_of(values))
        return [sys.executable, "-m", "gribmill.cli.main", "--config", str(config), *words]

    def start(self, host: Host, *words: str, **changes: Any) -> subprocess.Popen[bytes]:
        """A gribmill command that keeps running on the host."""
        command, output = self.words(host, words, changes), self.log_of(host)
        return host.start(*command, output=output, environment=self.environment(host))

    def finish(self, host: Host, *words: str, **changes: Any) -> subprocess.CompletedProcess[str]:
        """A gribmill command to its end."""
        return host.run(*self.words(host, words, changes), environment=self.environment(host), cwd=self.folder)

    def environment(self, host: Host) -> dict[str, str]:
        return {**host_environment(), **self.variables.get(host.name, {})}

    def log_of(self, host: Host) -> Path:
        """The output of all commands started on a host."""
        return self.folder / f"{host.name}.log"

    def said(self, host: Host) -> str:
        path = self.log_of(host)
        return path.read_text(errors="replace") if path.exists() else ""

    def serve(self, *faults: str) -> None:
        """Start the publisher."""
        folder = self.folder / "mirror"
        folder.mkdir(exist_ok=True)
        given = [word for fault in faults for word in ("--fault", fault)]
        sandbox = ["sandbox", str(folder), "--host", self.publisher.address, "--port", str(PUBLISHER_PORT), *given]
        self.publisher.start(
            sys.executable, "-m", "gribmill.cli.main", *sandbox, output=self.folder / "publisher.log",
            environment=host_environment(),
        )  # fmt: skip

    def publish(self, model_id: str, *hours: int) -> None:
        self.forecasts.publish(self.folder / "mirror", model_id, *hours)

    # Results

    @property
    def store(self) -> Store:
        if self._store is None:
            self._store = open_queue(self.settings())
        return self._store

    @property
    def context(self) -> Context:
        return make_context(self.settings())

    def jobs(self, status: str | None = None, type_key: str | None = None) -> list[Job]:
        return list(self.store.jobs.list(JobFilter(status=status, type=type_key), limit=500).jobs)  # type: ignore[arg-type]

    def attempts(self) -> list[Attempt]:
        return [one for job in self.jobs() for one in self.store.jobs.history(job.id).attempts]

    def complete(self, model_id: str) -> bool:
        runs = self.context.catalogue.runs(model_id)
        whole = any(one.run_id == self.run_id and one.state == "complete" for one in runs)
        return whole and not [job for job in self.jobs(type_key="publish") if not job.completed_at]

    def wait_complete(self, model_id: str, seconds: float = 120) -> None:
        def look() -> bool:
            self.hurry()
            return self.complete(model_id)

        wait_until(look, seconds, f"{model_id} to be complete: {self.troubles()}")

    def hurry(self, *types: str) -> None:
        """Make all delayed jobs of the chain, or of these types, due now."""
        for job in self.jobs("pending"):
            if job.next_run_at and job.type in (types or ("ingest_grib", "build_tile", "publish")):
                try:
                    self.store.jobs.run_now(job.id)
                except Exception:  # noqa: BLE001 — claimed meanwhile
                    continue

    def troubles(self) -> list[str]:
        return [f"{job.type} {job.args} {job.status}: {job.error_message}" for job in self.jobs() if job.error_message]

    def tiles(self) -> dict[str, bytes]:
        """Every tile in the object store, by its path below `tiles`."""
        target = self.folder / "copied"
        shutil.rmtree(target, ignore_errors=True)
        objects(self.workers[0], self.endpoint, "copy", self.settings().tiles or "", str(target))
        return tiles_below(target)

    def close(self) -> None:
        for host in self.hosts.values():
            host.close()
        if self._store is not None:
            self._store.close()


def tiles_below(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.glob("*/*/*/*.npz"))}


def objects(host: Host, endpoint: str, *words: str) -> None:
    """Query the object store from this host."""
    done = host.run(
        sys.executable, "-m", "tests.hosts.object_side", endpoint, *words, environment=host_environment(), cwd=CHECKOUT
    )
    assert done.returncode == 0, done.stderr


def host_environment() -> dict[str, str]:
    """The object store's keys, without the developer's settings and without a proxy."""
    mine = {name: value for name, value in environment().items() if not name.lower().endswith("_proxy")}
    return {**mine, **KEYS, "HOME": os.environ.get("HOME", "/")}
