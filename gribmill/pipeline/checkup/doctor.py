"""`gribmill doctor`: every check in order. A new one is a function that is added to CHECKS."""

from __future__ import annotations

from collections.abc import Iterator

from gribmill.errors import GribmillError
from gribmill.pipeline.checkup import files, machine, queue, sources
from gribmill.pipeline.checkup.finding import DoctorCheck, Examination, Finding

CHECKS: tuple[DoctorCheck, ...] = (
    machine.python,
    machine.sqlite,
    machine.eccodes,
    machine.kernel,
    machine.clock,
    machine.disk,
    machine.permissions,
    queue.invariants,
    queue.workers,
    queue.schedules,
    sources.mirrors,
    sources.forgotten_hours,
    files.tiles,
    files.strange_tiles,
    files.spent_messages,
    files.leftovers,
    files.unused_logs,
)


def examine(about: Examination) -> Iterator[Finding]:
    """The findings, one check after the other. A check that cannot be made is wrong, and does not stop the others."""
    for check in CHECKS:
        try:
            yield from check(about)
        except (GribmillError, OSError) as error:
            yield Finding(check.__name__.replace("_", " "), False, f"it could not be checked: {error}")
