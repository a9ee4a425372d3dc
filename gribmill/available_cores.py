"""Determines the number of cores that this process may use."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

# Files with the container's CPU quota and period in microseconds, for cgroup versions 2 and 1.
CGROUP = Path("/sys/fs/cgroup")
QUOTA2 = "cpu.max"
QUOTA1, PERIOD1 = "cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us"


def available_cores(cgroup: Path = CGROUP) -> int:
    """At least 1. Respects a container's quota, unlike os.cpu_count(), which returns all cores of the machine."""
    cores = len(os.sched_getaffinity(0))
    quota = _quota(cgroup)
    return max(1, cores if quota is None else min(cores, round(quota)))


def _quota(cgroup: Path) -> float | None:
    """The quota as a number of cores; None without a quota."""
    for names in ((QUOTA2,), (QUOTA1, PERIOD1)):
        # Missing files, `max` and -1 mean no quota.
        with suppress(OSError, ValueError):
            quota, period = " ".join((cgroup / name).read_text() for name in names).split()
            if int(quota) > 0 and int(period) > 0:
                return int(quota) / int(period)
    return None
