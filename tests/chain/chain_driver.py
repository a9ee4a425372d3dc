"""Drives the chain from a publisher on loopback to a data root, in this process or with commands."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from gribmill.catalogue.records import HourRecord, RunRecord
from gribmill.cli.main import main
from gribmill.identity import RunRef
from gribmill.pipeline.context import Context, make_context
from gribmill.pipeline.job_types import scan_job
from gribmill.pipeline.open_queue import open_queue
from gribmill.queue.model import Job
from gribmill.queue.store import Store
from gribmill.queue.store.jobs.listing import JobFilter
from gribmill.queue.worker.in_process import TickedJob, Ticker
from gribmill.sandbox.publisher.faults import Faults
from gribmill.sandbox.publisher.request import Request
from gribmill.sandbox.publisher.server import Server
from gribmill.settings.schema import Settings
from gribmill.settings.toml_file import toml_value
from gribmill.storage.latest import read_latest
from gribmill.storage.open_root import root_of
from tests.chain.sample_forecasts import MIRRORS, SampleForecasts, tables
from tests.queue.backends import expire_leases
from tests.waiting import wait_until


@dataclass(frozen=True)
class Answer:
    """The output and exit code of a command."""

    returncode: int
    stdout: str
    stderr: str


@dataclass
class ChainDriver:
    """A mirror with faults, and a data root with settings. A context manager."""

    root: Path
    forecasts: SampleForecasts
    port: int
    faults: Faults = field(default_factory=Faults)
    chain: dict[str, Any] = field(default_factory=dict)
    late_minutes: float = 9000
    changes: dict[str, Any] = field(default_factory=dict)
    digests: bool = True

    def __enter__(self) -> ChainDriver:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._processes: list[subprocess.Popen[bytes]] = []
        self.server = Server(self.folder, self.faults, port=self.port, digests=self.digests)
        self.server.start()
        self._store: Store | None = None
        return self

    def __exit__(self, *exc: object) -> None:
        for process in self._processes:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            process.wait()
        self.server.stop()
        if self._store is not None:
            self._store.close()

    # Set-up

    @property
    def folder(self) -> Path:
        """The folder that the mirror serves."""
        return self.root / "mirror"

    @property
    def data(self) -> Path:
        return self.root / "data"

    @property
    def run_id(self) -> str:
        return self.forecasts.run_id

    @property
    def settings(self) -> Settings:
        values = {
            "data": self.data,
            "queue": {"lease_seconds": 60, "poll_seconds": 0.2},
            "workers": {"lanes": {"fetch": 1, "build": 1}},
            "chain": {"models": ["hrrr"], "regions": ["ne", "texas"], "runs_back": 1, **self.chain},
            "models": tables(self.forecasts.run, f"http://127.0.0.1:{self.port}/", late_minutes=self.late_minutes),
        }
        return Settings.model_validate({**values, **self.changes})

    @property
    def store(self) -> Store:
        if self._store is None:
            self._store = open_queue(self.settings)
        return self._store

    @property
    def context(self) -> Context:
        return make_context(self.settings)

    def publish(self, model_id: str, *hours: int, mirrors: Sequence[str] = MIRRORS) -> None:
        """Publish these hours of a model (default: all), each file before its index."""
        self.forecasts.publish(self.folder, model_id, *hours, mirrors=mirrors)

    # In this process

    def look(self, model_id: str, run_id: str | None = None) -> list[TickedJob]:
        """Scan now, then run everything that is ready."""
        made = self.store.jobs.enqueue(scan_job(model_id, run_id))
        self.store.jobs.run_now(made.id)
        return self.work()

    def look_only(self, model_id: str, *types: str) -> list[TickedJob]:
        """Scan now, and run only jobs of these types."""
        self.store.jobs.enqueue(scan_job(model_id))
        return Ticker(self.store, 60.0, self.settings.model_dump(mode="json")).tick(500, types)

    def work(self, limit: int = 500) -> list[TickedJob]:
        """Run what is ready, one job after the other."""
        return Ticker(self.store, 60.0, self.settings.model_dump(mode="json")).tick(limit)

    def hurry(self, *types: str) -> int:
        """Make all delayed jobs due now; returns how many there were."""
        waiting = [job for job in self.jobs("pending") if job.next_run_at and job.type in types]
        for job in waiting:
            with contextlib.suppress(Exception):  # claimed meanwhile
                self.store.jobs.run_now(job.id)
        return len(waiting)

    def lose_running(self) -> None:
        """Recover all running jobs, as if their workers had been silent for a lease."""
        expire_leases(self.settings.database or self.data / "jobs.db")
        self.store.maintenance.recover()

    # Commands, as a user runs them

    def command(self, *words: str, text: str | None = None) -> Answer:
        """A gribmill command in this process."""
        with CliRunner().isolation(input=text) as (out, err, _):
            try:
                main(self.words(*words))
                code = 0
            except SystemExit as end:
                code = int(end.code or 0)
            return Answer(code, out.getvalue().decode(), err.getvalue().decode())

    def finish(self, *words: str) -> Answer:
        """A gribmill command in a separate process, to its end."""
        python = [sys.executable, "-m", "gribmill.cli.main", *self.words(*words)]
        done = subprocess.run(python, capture_output=True, text=True, env=environment(), cwd=self.root, timeout=120)
        return Answer(done.returncode, done.stdout, done.stderr)

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        """A gribmill command that keeps running until the chain is closed."""
        output = (self.root / f"process-{len(self._processes)}.log").open("wb")
        python = [sys.executable, "-m", "gribmill.cli.main", *self.words(*words)]
        process = subprocess.Popen(
            python, stdout=output, stderr=output, env=environment(), cwd=self.root, start_new_session=True
        )
        output.close()
        self._processes.append(process)
        return process

    def words(self, *words: str) -> list[str]:
        """Command-line arguments of gribmill with this chain's settings."""
        config = self.root / "gribmill.toml"
        config.write_text(toml_of(self.settings.model_dump(mode="json", exclude_none=True, exclude_defaults=True)))
        return ["--config", str(config), *words]

    # Results

    def jobs(self, status: str | None = None, type_key: str | None = None) -> list[Job]:
        page = self.store.jobs.list(JobFilter(status=status, type=type_key), limit=500)  # type: ignore[arg-type]
        return list(page.jobs)

    def run_record(self, model_id: str) -> RunRecord | None:
        return next((one for one in self.context.catalogue.runs(model_id) if one.run_id == self.run_id), None)

    def hours(self, model_id: str) -> dict[int, HourRecord]:
        return self.context.catalogue.hours(RunRef(model_id, self.run_id))

    def complete(self, *model_ids: str) -> bool:
        records = [self.run_record(model_id) for model_id in model_ids]
        return all(record is not None and record.state == "complete" for record in records)

    def latest(self, model_id: str) -> dict[str, Any]:
        return {region: asdict(runs) for region, runs in read_latest(root_of(self.settings), model_id).items()}

    def tile(self, model_id: str, region: str, hour: int) -> Path:
        return self.data / "tiles" / model_id / self.run_id / region / f"{hour:03d}.npz"

    def tiles(self, model_id: str = "*") -> dict[str, bytes]:
        """Every tile and grid file by its path below the data root, also for an object store."""
        store = root_of(self.settings).tiles_at
        if store is not None:
            found = {f"tiles{str(path).removeprefix(str(store))}": path for path, _ in store.below()}
            chosen = (place for place in sorted(found) if fnmatch(place, f"tiles/{model_id}/*/*/*.npz"))
            return {place: found[place].read_bytes() for place in chosen}
        files = sorted((self.data / "tiles").glob(f"{model_id}/*/*/*.npz"))
        return {str(path.relative_to(self.data)): path.read_bytes() for path in files}

    def spooled(self) -> list[Path]:
        return sorted(path for path in (self.data / "grib").rglob("*") if path.is_file())

    def strays(self) -> list[Path]:
        """Unfinished temporary files."""
        names = [path for path in self.data.rglob("*") if path.is_file() and path.name.startswith(".")]
        return [path for path in names if not path.name.endswith(".lock") and ".rates" not in path.parts]

    def fetched(self) -> list[Request]:
        """The requests for files and indexes, without listings."""
        return [one for one in self.server.seen if one.key.count("/") > 1 and one.method == "GET"]

    def troubles(self) -> list[str]:
        """All problems, for the message of a failed test."""
        return [f"{job.type} {job.args} {job.status}: {job.error_message}" for job in self.jobs() if job.error_message]

    def counts(self) -> Counter[tuple[str, str]]:
        return Counter((job.type, job.status) for job in self.jobs())

    def assert_sound(self) -> None:
        """Check the queue's invariants, and that no partial files are left."""
        assert self.store.verify() == []
        assert self.strays() == [], f"half-written files: {self.strays()}"

    def wait_complete(self, *model_ids: str, seconds: float = 180) -> None:
        """Wait until these models are complete and all resulting jobs are done."""
        wait_until(lambda: self.complete(*model_ids), seconds, f"{', '.join(model_ids)}: {self.counts()}")
        wait_until(lambda: not [job for job in self.jobs() if job.type == "publish" and not job.completed_at], seconds)


def toml_of(values: dict[str, Any]) -> str:
    """Settings as a file."""
    lines = [f"{name} = {toml_value(value)}" for name, value in values.items() if not isinstance(value, dict)]
    for name, table in values.items():
        if isinstance(table, dict):
            lines += [f"[{name}]", *(f"{json.dumps(key)} = {toml_value(value)}" for key, value in table.items())]
    return "\n".join(lines) + "\n"


def developers_own(name: str) -> bool:
    """Whether an environment variable is a setting that tests must not inherit; the kernel's switch is allowed."""
    return name.startswith("GRIBMILL_") and name != "GRIBMILL_KERNEL"


def environment() -> dict[str, str]:
    """The environment without the developer's settings."""
    return {name: value for name, value in os.environ.items() if not developers_own(name)}
