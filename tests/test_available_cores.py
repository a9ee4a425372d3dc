"""The cores available to a process: those of the machine, or fewer in a container."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gribmill.available_cores import available_cores

HERE = len(os.sched_getaffinity(0))


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({"cpu.max": "100000 100000\n"}, 1),
        ({"cpu.max": "20000 100000\n"}, 1),
        ({"cpu.max": "900000000 100000\n"}, HERE),
        ({"cpu.max": "max 100000\n"}, HERE),
        ({"cpu/cpu.cfs_quota_us": "100000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 1),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, HERE),
        ({}, HERE),
    ],
)
def test_a_quota_lowers_the_number_of_cores(tmp_path: Path, files: dict[str, str], cores: int) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert available_cores(tmp_path) == cores
