"""A gribmill worker with two executors: `add URL FILE COUNT`, `work URL FILE`."""

from __future__ import annotations

import sys
import time
import uuid

from benchmarks.queue.chaos.executions import JOB_SECONDS, TIMEOUT_SECONDS, write
from gribmill.database.postgres import PostgresDatabase
from gribmill.queue.arguments import Args
from gribmill.queue.job_type import JobType, Registry
from gribmill.queue.model import NewJob
from gribmill.queue.store import Store
from gribmill.queue.worker.options import WorkerOptions
from gribmill.queue.worker.task import Task


class MarkArgs(Args):
    """Where to write, and what."""

    file: str
    n: int


def mark(task: Task) -> None:
    args, token = task.args_as(MarkArgs), uuid.uuid4().hex
    write(args.file, token, args.n, "began")
    time.sleep(JOB_SECONDS)
    write(args.file, token, args.n, "ended")


MARK = JobType("mark", "Writes two lines.", MarkArgs, "fetch", "benchmarks.queue.chaos.gribmill_worker:mark")
TYPES = Registry(MARK)


def main() -> None:
    from gribmill.queue.worker.supervisor.supervisor import Supervisor

    command, url, file = sys.argv[1:4]
    store = Store(PostgresDatabase(url, lease_seconds=TIMEOUT_SECONDS), TYPES)
    if command == "add":
        store.jobs.enqueue_many(NewJob("mark", {"file": file, "n": n}) for n in range(int(sys.argv[4])))
        return
    options = WorkerOptions("benchmarks.queue.chaos.gribmill_worker:TYPES", {"fetch": 2}, lease_seconds=TIMEOUT_SECONDS)
    Supervisor(store, options).run()


if __name__ == "__main__":
    main()
