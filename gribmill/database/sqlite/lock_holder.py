"""Finds the holder of a file lock in /proc, so that taking the lock itself costs nothing extra."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class LockHolder:
    """The process that holds a lock."""

    pid: int
    name: str
    stopped: bool
    """Whether it is suspended by a signal (Ctrl-Z, kill -STOP) or a debugger."""

    def __str__(self) -> str:
        name = f"process {self.pid} ({self.name})" if self.name else f"process {self.pid}"
        if self.stopped:
            return f"{name}, which is stopped: continue it with `kill -CONT {self.pid}`, or end it"
        return name


def lock_holder(fd: int) -> LockHolder | None:
    """The holder of the `flock` on this open file; None if it is free or unknown."""
    try:
        facts = os.fstat(fd)
        lines = (PROC / "locks").read_text().splitlines()
    except OSError:
        return None
    pids = [int(words[4]) for words in map(str.split, lines) if _is_held(words, facts.st_ino)]
    return _described(pids[0]) if pids and pids[0] > 0 else None


def _is_held(words: list[str], inode: int) -> bool:
    """`1: FLOCK ADVISORY WRITE 4711 fe:00:2154999 0 EOF`; a waiting process has `->` in the second place."""
    return len(words) > 5 and words[1] == "FLOCK" and words[5].rpartition(":")[2] == str(inode)


def _described(pid: int) -> LockHolder:
    try:
        name = (PROC / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        # The program's name may contain spaces and brackets: the state follows the last bracket.
        state = (PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return LockHolder(pid, "", stopped=False)
    shown = "".join(one if one.isprintable() else "?" for one in name)
    return LockHolder(pid, shown[:LONGEST_NAME], stopped=state in ("T", "t"))
