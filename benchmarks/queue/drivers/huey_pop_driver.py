"""huey told to keep no results: taking a task is all that is ever written, its end is not recorded."""

from __future__ import annotations

from benchmarks.queue.drivers.driver import main
from benchmarks.queue.drivers.huey_driver import HueyDriver


class HueyPopDriver(HueyDriver):
    records_ends = False


if __name__ == "__main__":
    main(HueyPopDriver)
