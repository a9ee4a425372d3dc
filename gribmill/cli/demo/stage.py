"""The state shared by the demo's steps: a separate queue, real processes, and the results of checks."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import shutil
import socket
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import click

from gribmill.catalogue.reads import Catalogue
from gribmill.cli.demo.folder import fresh_folder
from gribmill.cli.main import cli
from gribmill.cli.output import console
from gribmill.errors import GribmillError
from gribmill.pipeline.open_queue import open_queue
from gribmill.settings.load import ENV_PREFIX
from gribmill.settings.schema import Settings
from gribmill.settings.toml_file import toml_value

if TYPE_CHECKING:
    from gribmill.catalogue.reads import Catalogue
    from gribmill.queue.store import Store

# Short, so that jobs are recovered within seconds; the default is a minute.
LEASE_SECONDS = 2.0
PATIENCE_SECONDS = 20.0
POLL_SECONDS = 0.05


QUEUEING = f"""# Settings of the demo: short leases, so that jobs are recovered within seconds.
data = {{data}}

[queue]
lease_seconds = {LEASE_SECONDS}
poll_seconds = 0.2

[workers]
lanes = {{{{fetch = 2}}}}
kill_grace_seconds = 1.0
"""
# All mirrors of both models are the demo's publisher; their runs have four hours.
FOLLOWING = """# Settings of the demo: two models whose mirrors are all the demo's publisher.
data = {data}

[workers]
lanes = {{fetch = 2, build = 1}}

# What `gribmill run` follows; the console goes by it.
[chain]
models = ["hrrr", "gfs"]
regions = ["ne", "conus", "europe"]

[models.hrrr]
scan_seconds = 5
hours = [{{cycles = "0-23", steps = "0-3"}}]

[models.gfs]
scan_seconds = 5
hours = [{{cycles = "0, 6, 12, 18", steps = "0-3"}}]

[roots]
aws-hrrr = "http://127.0.0.1:{port}/aws-hrrr/"
gcs-hrrr = "http://127.0.0.1:{port}/aws-hrrr/"
nomads-hrrr = "http://127.0.0.1:{port}/aws-hrrr/"
aws-gfs = "http://127.0.0.1:{port}/aws-gfs/"
gcs-gfs = "http://127.0.0.1:{port}/aws-gfs/"
nomads-gfs = "http://127.0.0.1:{port}/aws-gfs/"
"""


class StepFailed(GribmillError):
    """A step cannot continue; the next one may."""


@dataclass(slots=True)
class Stage:
    """The state shared by the steps. `ids` are jobs that later steps use."""

    folder: Path
    settings: Settings
    store: Store
    port: int = 0
    ids: dict[str, int] = field(default_factory=dict)
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)
    passed: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    # Printing

    def title(self, text: str) -> None:
        self._print(f"\n{text}", "bold")

    def say(self, text: str) -> None:
        self._print(f"  {text}")

    def check(self, passed: bool, text: str) -> None:
        """Record and print the result of a check."""
        (self.passed if passed else self.failed).append(text)
        self._print(f"  {'ok    ' if passed else 'FAILED'}  {text}", "green" if passed else "bold red")

    def summary(self) -> None:
        """The results of all checks."""
        self.title("Summary")
        self.say(f"{len(self.passed)} checks passed, {len(self.failed)} failed")
        for text in self.failed:
            self._print(f"  FAILED  {text}", "bold red")
        self.say(f"Everything is still there; for example: {self._shown('jobs', 'list')}")

    def _print(self, text: str, style: str = "") -> None:
        console().print(text, style=style, markup=False, soft_wrap=True)
        sys.stdout.flush()

    # Running commands

    def gribmill(self, *words: str, stdin: str = "", pipe: str = "") -> int:
        """Print a command, run it, and return its exit code. `pipe` is the shell command that produces `stdin`."""
        self._print(f"  $ {pipe + ' | ' if pipe else ''}{self._shown(*words)}", "cyan")
        group = _group(words[0])
        given = io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
        with mock.patch.object(sys, "stdin", given):
            try:
                group.main(list(words[1:]), prog_name=words[0], obj=self.settings, standalone_mode=False)
            except SystemExit as end:
                return int(end.code or 0)
            except GribmillError as error:
                self.say(f"error: {error}")
                return 1
        return 0

    def enqueue(self, name: str, arguments: str, *options: str) -> int:
        """Enqueue a `sleep` job with the real command; returns its id, which is also stored under the name."""
        before = self.newest()
        self.gribmill("jobs", "enqueue", "sleep", arguments, *options)
        self.ids[name] = self.newest()
        if self.ids[name] <= before:
            raise StepFailed(f"the {name} job was not enqueued")
        return self.ids[name]

    def newest(self) -> int:
        """The id of the newest job; 0 if there is none."""
        page = self.store.jobs.list(limit=1)
        return page.jobs[0].id if page.jobs else 0

    @property
    def catalogue(self) -> Catalogue:
        return Catalogue(self.store.database)

    def start_worker(self) -> subprocess.Popen[bytes]:
        """Start a worker in a separate process."""
        return self.start("work")

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        """Start a command in a separate process; its output is written to a file."""
        log = self.folder / f"{words[0]}-{len(self.workers) + 1}.log"
        self._print(f"  $ {self._shown(*words)} 2> {_short(log)} &", "cyan")
        command = [sys.executable, "-m", "gribmill", "--config", str(self.folder / "gribmill.toml"), *words]
        environment = {name: value for name, value in os.environ.items() if not name.startswith(ENV_PREFIX)}
        with log.open("wb") as out:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, env=environment
            )
        self.workers.append(process)
        return process

    def check_alive(self) -> bool:
        """True if all started processes are running; raises StepFailed with the last line of one that has ended."""
        for process in self.workers:
            if process.poll() is not None:
                log = next(self.folder.glob(f"*-{self.workers.index(process) + 1}.log"))
                last = log.read_text(errors="replace").strip().splitlines()[-1:]
                raise StepFailed(f"{log.stem} has ended: {last[0] if last else 'it printed nothing'}")
        return True

    def wait_until(self, what: str, done: Callable[[], Any], seconds: float = PATIENCE_SECONDS) -> None:
        """Poll until `done` is true; raises StepFailed if that takes too long."""
        deadline = time.monotonic() + seconds
        while not done():
            if time.monotonic() > deadline:
                raise StepFailed(f"timed out after {seconds:g} s, waiting until {what}")
            time.sleep(POLL_SECONDS)

    def count(self, *statuses: str) -> int:
        """The number of jobs with these statuses."""
        return sum(kind.counts.get(status, 0) for kind in self.store.types.stats() for status in statuses)

    def stop_workers(self) -> None:
        """End the processes that this demo started, and no others."""
        for process in self.workers:
            if process.poll() is None:
                process.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(5)
            if process.poll() is None:
                process.kill()
                process.wait()

    def _shown(self, *words: str) -> str:
        return f"{_program()} --config {shlex.quote(_short(self.folder / 'gribmill.toml'))} {shlex.join(words)}"


@contextmanager
def open_stage(folder: Path, *, publisher: bool = False) -> Iterator[Stage]:
    """A new queue in the folder, with a port for the publisher if requested. On exit, all started processes end."""
    with fresh_folder(folder):
        port = _free_port() if publisher else 0
        text = (FOLLOWING if publisher else QUEUEING).format(data=toml_value(folder), port=port)
        (folder / "gribmill.toml").write_text(text, encoding="utf-8")
        settings = Settings.model_validate(tomllib.loads(text))
        stage = Stage(folder, settings, open_queue(settings), port)
        try:
            yield stage
        finally:
            stage.stop_workers()
            stage.store.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _group(noun: str) -> click.Command:
    command = cli.get_command(click.Context(cli), noun)
    assert command is not None
    return command


def _program() -> str:
    """The command that runs this gribmill from the working directory."""
    beside = Path(sys.executable).with_name("gribmill")
    found = shutil.which("gribmill")
    if found and Path(found).parent == beside.parent:
        return "gribmill"
    return (
        shlex.quote(_short(beside)) if beside.exists() else f"{shlex.quote(_short(Path(sys.executable)))} -m gribmill"
    )


def _short(path: Path) -> str:
    """The path, relative to the working directory if it is inside."""
    with contextlib.suppress(ValueError):
        return str(path.relative_to(Path.cwd()))
    return str(path)
