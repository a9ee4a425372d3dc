"""Identifies a worker's process, so that others on the same machine can tell whether it is alive."""

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
    """Machine id, boot id and PID namespace, as far as the system reports them."""
    sources = {"machine_id": "/etc/machine-id", "boot_id": "/proc/sys/kernel/random/boot_id"}
    found = {name: text for name, path in sources.items() if (text := _text(path))}
    with contextlib.suppress(OSError):
        found["pid_namespace"] = str(Path("/proc/self/ns/pid").readlink())
    return found


def this_process() -> dict[str, Any]:
    """The process description that a worker's heartbeat carries."""
    return _described(os.getpid())


@lru_cache(maxsize=1)
def _described(pid: int) -> dict[str, Any]:
    return {"pid": pid, "started": _start_ticks(pid), "hostname": socket.gethostname(), **this_machine()}


def has_died(process: Mapping[str, Any]) -> bool:
    """Whether the described process has certainly ended. False if that cannot be determined from here."""
    here = this_machine()
    if "boot_id" not in here or process.get("machine_id") != here.get("machine_id"):
        return False
    if process.get("hostname") != socket.gethostname():  # cloned machines share an id
        return False
    if process.get("boot_id") != here["boot_id"]:
        # This machine was restarted. Containers often have no machine id: then it may be another machine.
        return "machine_id" in here and isinstance(process.get("boot_id"), str)
    if process.get("pid_namespace") != here.get("pid_namespace") or "pid_namespace" not in here:
        return False
    pid = process.get("pid")
    if not isinstance(pid, int) or pid <= 0:
        return False
    # A reused pid has a different start time.
    return _start_ticks(pid) != process.get("started")


def _start_ticks(pid: int) -> int | None:
    """When a process started, in clock ticks since boot; None if it has ended."""
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
