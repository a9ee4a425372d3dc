"""`python -m tests.worker.start_worker DATABASE '{"option": value}'`: a worker of the test types as a process."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from gribmill.logs import set_up_logging
from gribmill.queue.sqlite import SqliteDatabase
from gribmill.queue.store import Store
from gribmill.queue.worker.options import WorkerOptions
from gribmill.queue.worker.supervisor import Supervisor
from gribmill.settings import LogSettings
from tests.worker.types import TYPES, TYPES_PATH


def main() -> None:
    log = {"format": "json", "level": "debug"}
    set_up_logging(LogSettings.model_validate(log))
    store = Store(SqliteDatabase(Path(sys.argv[1])), TYPES)
    Supervisor(store, WorkerOptions(types_path=TYPES_PATH, log=log, **json.loads(sys.argv[2]))).run()


if __name__ == "__main__":
    main()
