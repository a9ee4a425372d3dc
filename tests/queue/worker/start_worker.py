"""`python -m tests.queue.worker.start_worker DATABASE '{"option": value}'`: a worker of the test types as a process."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from gribmill.logs import set_up_logging
from gribmill.queue.store import Store
from gribmill.queue.worker.options import WorkerOptions
from gribmill.queue.worker.output import OutputLogs
from gribmill.queue.worker.supervisor import heartbeat
from gribmill.queue.worker.supervisor.supervisor import Supervisor
from gribmill.settings.schema import LogSettings
from tests.queue.backends import open_address
from tests.queue.sample_effects import SampleEffects
from tests.queue.worker.sample_types import TYPES, TYPES_PATH


def main() -> None:
    options = json.loads(sys.argv[2])
    if "logs" in options:
        folder, limit = options["logs"]
        options["logs"] = OutputLogs(Path(folder), limit)
    heartbeat.TURN_SECONDS = options.pop("turn_seconds", heartbeat.TURN_SECONDS)
    log = {"format": "json", "level": options.pop("log_level", "debug")}
    set_up_logging(LogSettings.model_validate(log))
    database = open_address(sys.argv[1], synchronous=options.pop("synchronous", "full"))
    store = Store(database, TYPES, SampleEffects())
    Supervisor(store, WorkerOptions(types_path=TYPES_PATH, log=log, **options)).run()


if __name__ == "__main__":
    main()
