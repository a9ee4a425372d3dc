"""huey with results disabled: only the claim of a task is written, not its end."""

from __future__ import annotations

from benchmarks.queue.drivers.driver import main
from benchmarks.queue.drivers.huey_driver import HueyDriver


class HueyPopDriver(HueyDriver):
    records_ends = False


if __name__ == "__main__":
    main(HueyPopDriver)
