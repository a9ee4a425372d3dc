"""`gribmill doctor`: runs all checks in order. A new check is a function in CHECKS, with the name of its findings."""

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
    machine.disk,
    machine.permissions,  # before the queue is opened, which creates the data root
    machine.clock,
    object_store.object_store,
    chain.queue,
    chain.workers,
    chain.schedules,
    chain.mirrors,
    chain.hours,
    files.tiles,
    files.tiles_without_record,
    files.downloads,
    files.leftovers,
    files.logs,
)


REMEDY = (
    "stop the workers first; without a backup, `gribmill run` creates a new file and downloads the newest runs again"
)


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
