"""The copy of the spool in an object store, so that one host can cut what another has downloaded.

Objects there are never replaced. Readers verify a file against the record of its hour.
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

# For this long, other hosts leave an hour to the host that downloaded it.
OWN_HOST_SECONDS = 5.0
MOST_NAMES = 1000


def share_spool(root: DataRoot, hour: HourRef, path: Path) -> Path:
    """Upload a spool file to the object store, if there is one; returns its local path, which may have changed.

    If another host has uploaded a file of that generation, this one gets the next.
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
    """Download the recorded spool file from the object store; None if it is missing or not as recorded."""
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
        # A file that is not newer than its record is trusted without reading it again.
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
    """Whether to leave the hour for a short while to the host that downloaded it, which need not fetch it.

    `now` is the database's time. A record from the future is never left.
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
