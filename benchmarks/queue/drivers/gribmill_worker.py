"""A real gribmill worker whose jobs record when they started. `PATH POLL_SECONDS`."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from gribmill.database.sqlite import SqliteDatabase
from gribmill.queue.arguments import Args
from gribmill.queue.job_type import JobType, Registry
from gribmill.queue.store import Store
from gribmill.queue.worker.options import WorkerOptions
from gribmill.queue.worker.task import Task


class StampArgs(Args):
    """Where to write the time."""

    file: str


def stamp(task: Task) -> None:
    """When the handler started."""
    partial = task.args_as(StampArgs).file + ".tmp"
    Path(partial).write_text(str(time.time()))
    os.rename(partial, partial.removesuffix(".tmp"))  # noqa: PTH104


STAMP = JobType("stamp", "Writes the time.", StampArgs, "fetch", "benchmarks.queue.drivers.gribmill_worker:stamp")
TYPES = Registry(STAMP)


def main() -> None:
    from gribmill.queue.worker.supervisor.supervisor import Supervisor

    options = WorkerOptions("benchmarks.queue.drivers.gribmill_worker:TYPES", {"fetch": 2})
    Supervisor(Store(SqliteDatabase(Path(sys.argv[1])), TYPES), options).run()


if __name__ == "__main__":
    main()
