"""The work of the jobs of a chaos run: they record their start and end. Standard library only."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import NamedTuple

JOB_SECONDS = 0.1
# When a job counts as abandoned, for all systems.
TIMEOUT_SECONDS = 10


class Execution(NamedTuple):
    """One run of a job; `ended` is None if it was cut short."""

    job: int
    began: float
    ended: float | None


def write(file: str, token: str, job: int, what: str) -> None:
    """One line in one write: several processes share the file."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        os.write(descriptor, f"{time.time()} {token} {job} {what}\n".encode())
    finally:
        os.close(descriptor)


def read(file: Path) -> list[Execution]:
    found: dict[str, Execution] = {}
    for line in file.read_text().splitlines() if file.exists() else ():
        moment, token, job, what = line.split()
        if what == "began":
            found[token] = Execution(int(job), float(moment), None)
        else:
            found[token] = found[token]._replace(ended=float(moment))
    return list(found.values())
