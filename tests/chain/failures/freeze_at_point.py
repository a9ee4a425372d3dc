"""`python -m tests.chain.failures.freeze_at_point SETTINGS POINT` runs ready jobs and stops itself (SIGSTOP) once,
at that point.

After SIGCONT it continues with its state in memory, like a worker on a suspended machine.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gribmill.ingest.download import spool
from gribmill.pipeline.open_queue import open_queue
from gribmill.queue.worker.in_process import Ticker
from gribmill.settings.schema import Settings
from gribmill.storage import atomic, object_client
from gribmill.tiles.build import tile_writer

LEASE_SECONDS = 0.5
# A process that stops while its other thread renews the lease would hold the lock of jobs.db, and nobody could go on.
HEARTBEAT = threading.Lock()


def freeze_before(owner: Any, name: str) -> None:
    work: Callable[..., Any] = getattr(owner, name)
    calls: list[int] = []

    def frozen_once(*args: Any, **kwargs: Any) -> Any:
        if not calls:
            calls.append(1)
            with HEARTBEAT:
                os.kill(os.getpid(), signal.SIGSTOP)
        return work(*args, **kwargs)

    setattr(owner, name, frozen_once)


def freeze_between_heartbeats(workers: Any) -> None:
    beat: Callable[..., Any] = workers.heartbeat

    def whole(*args: Any, **kwargs: Any) -> Any:
        with HEARTBEAT:
            return beat(*args, **kwargs)

    workers.heartbeat = whole


POINTS: dict[str, Callable[[], None]] = {
    "tile decoded, not written": lambda: freeze_before(tile_writer, "write_atomic"),
    "tile written, not renamed": lambda: freeze_before(atomic, "_rename"),
    "tile about to be renamed, lock held": lambda: freeze_before(tile_writer, "check_generation"),
    "tile about to be sent": lambda: freeze_before(object_client.ObjectClient, "write"),
    "messages about to be sent": lambda: freeze_before(object_client.ObjectClient, "upload"),
    "download not begun": lambda: freeze_before(spool.Spool, "__enter__"),
    "download whole, not renamed": lambda: freeze_before(spool.Spool, "finish"),
}


def main() -> None:
    settings = Settings.model_validate_json(Path(sys.argv[1]).read_text())
    POINTS[sys.argv[2]]()
    # It sends no heartbeat while stopped, nor after waking before its result is refused.
    store = open_queue(settings)
    freeze_between_heartbeats(store.workers)
    ran = Ticker(store, LEASE_SECONDS, settings.model_dump(mode="json")).tick(500, sys.argv[3].split(","))
    for one in ran:
        print(one.job.type, one.accepted, one.outcome, flush=True)


if __name__ == "__main__":
    main()
