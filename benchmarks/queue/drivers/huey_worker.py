"""A huey consumer with default settings, and a command that enqueues jobs: `consume PATH`, `add PATH FILES…`."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from huey import SqliteHuey

from benchmarks.queue.drivers.huey_driver import LOCK_TIMEOUT_SECONDS

huey = SqliteHuey("bench", filename=sys.argv[2], fsync=True, timeout=LOCK_TIMEOUT_SECONDS, results=False)


@huey.task()  # type: ignore[untyped-decorator]
def stamp(file: str) -> None:
    """When the task started."""
    Path(file + ".tmp").write_text(str(time.time()))
    os.rename(file + ".tmp", file)  # noqa: PTH104


def main() -> None:
    if sys.argv[1] == "consume":
        huey.create_consumer(workers=2).run()
        return
    for line in sys.stdin:
        stamp(line.strip())
        sys.stdout.write(f"{time.time()}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
