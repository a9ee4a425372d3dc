"""The copy of the spool in an object store: what one host has downloaded, another one can cut.

A name there is never replaced. Readers compare a file with the record of its hour.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from datetime import datetime
from pathlib import Path

from gribmill.catalogue.records import HourRecord
from gribmill.identity import HourRef
from gribmill.storage.errors import ChangedObject
from gribmill.storage.layout import DataRoot, spool_generation, unique_part_of
from gribmill.storage.no_space import space_for

# While the host that downloaded an hour still has it, others leave it the work for this long.
OWN_HOST_SECONDS = 5.0
MOST_NAMES = 1000


def share_spool(root: DataRoot, hour: HourRef, path: Path) -> Path:
    """Send a spool file to the object store, if there is one. Its name on this machine, which may have changed.

    If another host has sent a file of that generation, this one gets the next.
    """
    for _ in range(MOST_NAMES):
        shared = root.shared_spool(path)
        if shared is None:
            return path
        try:
            shared.client.upload(shared.key, path)
        except ChangedObject:
            path = _renamed(root, hour, path)
            continue
        return path
    raise ChangedObject(f"{path} has no free name in {root.spool_at}")


def fetched_spool(root: DataRoot, hour: HourRef, record: HourRecord | None) -> Path | None:
    """The recorded spool file, from the object store; None if it is not there, or not as recorded."""
    if record is None or record.ingested_at is None or not record.generation:
        return None
    path = root.spool(hour, record.generation)
    shared = root.shared_spool(path)
    status = shared.now() if shared is not None else None
    if shared is None or status is None or status.st_size != record.bytes:
        return None
    temporary = unique_part_of(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    try:
        with space_for(path), temporary.open("xb") as file:
            for part in shared.client.download(shared.key):
                digest.update(part)
                file.write(part)
        if digest.hexdigest() != record.sha256:
            return None
        # As old as its record: it need not be read again to be believed.
        moment = record.ingested_at.timestamp()
        os.utime(temporary, (moment, moment))
        temporary.replace(path)
    except FileNotFoundError:
        return None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()
    return path


def is_left_to_its_host(root: DataRoot, record: HourRecord | None, now: datetime) -> bool:
    """Whether the host that downloaded the hour should cut it: it need not fetch it. For a short while only.

    `now` is the database's time. A record from the future is not waited for.
    """
    if root.spool_at is None or record is None or record.ingested_at is None:
        return False
    age = (now - record.ingested_at).total_seconds()
    return 0 <= age < OWN_HOST_SECONDS


def _renamed(root: DataRoot, hour: HourRef, path: Path) -> Path:
    generation = spool_generation(path)
    for number in range(generation + 1, generation + MOST_NAMES):
        other = root.spool(hour, number)
        with contextlib.suppress(FileExistsError):
            os.link(path, other)
            path.unlink()
            return other
    raise ChangedObject(f"{path} has no free name beside it")
