"""`gribmill doctor`: runs all checks in order. To add one, write a function and add it to CHECKS."""

from __future__ import annotations

from collections.abc import Iterator

from gribmill.errors import GribmillError
from gribmill.pipeline.checkup import chain, files, machine, object_store
from gribmill.pipeline.checkup.finding import DoctorCheck, Examination, Finding
from gribmill.queue.errors import StoreCorrupt

CHECKS: tuple[DoctorCheck, ...] = (
    machine.python,
    machine.database,
    machine.eccodes,
    machine.kernel,
    machine.clock,
    machine.disk,
    machine.permissions,
    object_store.object_stores,
    chain.invariants,
    chain.workers,
    chain.schedules,
    chain.mirrors,
    chain.forgotten_hours,
    files.tiles,
    files.strange_tiles,
    files.spent_messages,
    files.leftovers,
    files.unused_logs,
)


REMEDY = "stop the workers first; without a backup, `gribmill run` makes a new file and fetches again what it follows"


def examine(about: Examination) -> Iterator[Finding]:
    """Run the checks in order and yield their findings. A check that raises counts as failed; the others continue.

    A damaged database is one finding, which lists the checks that need it.
    """
    damage, unchecked = "", []
    for check in CHECKS:
        name = check.__name__.replace("_", " ")
        try:
            yield from check(about)
        except StoreCorrupt as error:
            damage = damage or str(error)
            unchecked.append(name)
        except (GribmillError, OSError) as error:
            yield Finding(name, False, f"it could not be checked: {error}")
    if damage:
        yield Finding("jobs.db", False, f"{damage}. Not checked without it: {', '.join(unchecked)}", REMEDY)
