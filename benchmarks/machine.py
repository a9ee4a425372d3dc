"""What a result was measured on."""

from __future__ import annotations

import os
import platform
import sqlite3
from datetime import UTC, datetime
from pathlib import Path


def machine_lines() -> list[str]:
    """Processor, memory, system, versions, load: one line each."""
    cpu = next(
        (line.split(":")[1].strip() for line in _read("/proc/cpuinfo").splitlines() if line.startswith("model name")),
        platform.processor(),
    )
    memory = next((line.split()[1] for line in _read("/proc/meminfo").splitlines() if line.startswith("MemTotal")), "0")
    load = ", ".join(f"{value:.2f}" for value in os.getloadavg())
    return [
        f"- {os.cpu_count()} × {cpu}, {int(memory) / 1e6:.0f} GB, {platform.system()} {platform.release()}",
        f"- Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}",
        f"- measured {datetime.now(UTC):%Y-%m-%d %H:%M} UTC, load average at the start {load}",
    ]


def _read(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""
