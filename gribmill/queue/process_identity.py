"""Which process a worker is, so that another one on the same machine can tell whether it still lives."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any


@cache
def this_machine() -> dict[str, str]:
    """Machine, boot and PID namespace; without what the system does not tell."""
    sources = {"machine_id": "/etc/machine-id", "boot_id": "/proc/sys/kernel/random/boot_id"}
    found = {name: text for name, path in sources.items() if (text := _text(path))}
    with contextlib.suppress(OSError):
        found["pid_namespace"] = str(Path("/proc/self/ns/pid").readlink())
    return found


def this_process() -> dict[str, Any]:
    """What a worker's heartbeat tells about its process."""
    return _described(os.getpid())


@lru_cache(maxsize=1)
def _described(pid: int) -> dict[str, Any]:
    return {"pid": pid, "started": _start_ticks(pid), "hostname": socket.gethostname(), **this_machine()}


def has_died(process: Mapping[str, Any]) -> bool:
    """Whether a process that described itself so has certainly ended: False when that cannot be known from here."""
    here = this_machine()
    if not here.get("machine_id") or process.get("machine_id") != here["machine_id"] or "boot_id" not in here:
        return False
    if process.get("hostname") != socket.gethostname():  # machines that were cloned share an id
        return False
    if process.get("boot_id") != here["boot_id"]:
        return isinstance(process.get("boot_id"), str)
    if process.get("pid_namespace") != here.get("pid_namespace") or "pid_namespace" not in here:
        return False
    pid = process.get("pid")
    if not isinstance(pid, int) or pid <= 0:
        return False
    # A pid that was given to another process has another start time.
    return _start_ticks(pid) != process.get("started")


def _start_ticks(pid: int) -> int | None:
    """When a process started, in clock ticks since the boot; None when it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
        state, ticks = fields[0], int(fields[19])
    except (OSError, IndexError, ValueError):
        return None
    return None if state in "ZX" else ticks


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii", errors="replace").strip()[:100]
    except OSError:
        return ""
