"""The spool files of an hour: which one has its recorded content, where new content is stored, copies in an object
store, and when they are removed.

The name of a spool file includes the generation, and files are never replaced: a download that resumes after a long
suspension finds its name taken, and uses another one that no record mentions. From a copy in an object store, one host
can cut what another has downloaded.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from pathlib import Path

from gribmill.catalogue.records import HourRecord
from gribmill.identity import HourRef, RunRef
from gribmill.ingest.download.download import is_being_downloaded
from gribmill.ingest.download.download_plan import Downloaded
from gribmill.pipeline.context import Context
from gribmill.pipeline.job_types import ingest_job, tile_jobs
from gribmill.storage.atomic import space_for
from gribmill.storage.errors import ChangedObject
from gribmill.storage.layout import DataRoot, remove_spool, spool_generation, unique_part_of
from gribmill.storage.object_path import StoredPath
from gribmill.tiles.format.meta_member import generation_of

# For this long, other hosts leave an hour to the host that downloaded it.
OWN_HOST_SECONDS = 5.0
MOST_NAMES = 1000


def recorded_spool(root: DataRoot, hour: HourRef, record: HourRecord | None) -> Path | None:
    """The spool file of the recorded content; None if it is gone. A file that is not as recorded is removed."""
    path = root.spool(hour, record.generation if record else 0)
    if not path.is_file():
        return None
    if record is None or record.generation == 0 or _is_as_recorded(path, record):
        return path
    path.unlink(missing_ok=True)
    return None


def _is_as_recorded(path: Path, record: HourRecord) -> bool:
    """Compare the size; and the checksum, if the file is newer than its record, which no normal download is."""
    status = path.stat()
    if status.st_size != record.bytes or record.ingested_at is None:
        return False
    if status.st_mtime <= record.ingested_at.timestamp():
        return True
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == record.sha256


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


@dataclass(frozen=True, slots=True)
class NextContent:
    """Where the next download of an hour is stored."""

    root: DataRoot
    hour: HourRef
    known: HourRecord | None
    first: int
    """The lowest generation above the recorded one and those of all existing tiles."""

    @classmethod
    def of(cls, root: DataRoot, hour: HourRef, known: HourRecord | None) -> NextContent:
        """Considers tiles as well, because the catalogue may have been lost or restored from a backup."""
        tiles = (folder.tile(hour.hour * 60) for folder in root.tile_folders(hour.model_id, hour.run_id))
        built = max((generation_of(path) for path in tiles if path.is_file()), default=0)
        return cls(root, hour, known, max(known.generation if known else 0, built) + 1)

    @property
    def target(self) -> Path:
        """Where to download to: a name that no other process, possibly a suspended one, is downloading to."""
        paths = (self.root.spool(self.hour, generation) for generation in count(self.first))
        return next(path for path in paths if not is_being_downloaded(path))

    def places(self, got: Downloaded) -> Iterator[Path]:
        """The names to store it under, in order. The recorded content keeps its generation."""
        known = self.known
        if known is not None and known.generation == self.first - 1 and _same_content(known, got):
            yield self.root.spool(self.hour, known.generation)
        for generation in range(self.first, self.first + MOST_NAMES):
            yield self.root.spool(self.hour, generation)


def _same_content(known: HourRecord, got: Downloaded) -> bool:
    return (known.sha256, {*known.found}, {*known.missing}) == (got.sha256, {*got.found}, {*got.missing})


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


def _renamed(root: DataRoot, hour: HourRef, path: Path) -> Path:
    generation = spool_generation(path)
    for number in range(generation + 1, generation + MOST_NAMES):
        other = root.spool(hour, number)
        with contextlib.suppress(FileExistsError):
            os.link(path, other)
            path.unlink()
            return other
    raise ChangedObject(f"{path} has no free name beside it")


def remove_spent(context: Context, run: RunRef) -> None:
    """Remove the messages of a run that are no longer needed."""
    for paths in spent_hours(context, run).values():
        for path in paths:
            remove_spool(path)


def remove_spent_here(context: Context) -> None:
    """With a shared spool, remove this host's messages that are no longer needed.

    Another host may have run the publish job, and cannot remove files on this one.
    """
    if context.root.spool_at is not None:
        for run in context.root.spooled_runs():
            remove_spent(context, run)


def spent_hours(context: Context, run: RunRef) -> dict[int, list[StoredPath]]:
    """The hours whose messages can be removed, with their spool files of all generations.

    These are hours with all tiles built and no active job, unless their messages are to be kept.

    An active job may be reading the messages, or may have just fetched them again for a new region. Jobs are read after
    the hours, so messages fetched in between still have a job, or all their tiles.
    """
    spent = {}
    spooled = context.root.spooled_hours(run)
    for hour, record in context.catalogue.hours(run).items():
        ref = run.hour(hour)
        if record.state != "built" or record.keep_grib or hour not in spooled:
            continue
        users = (ingest_job(ref, live=True), *tile_jobs(ref, record.regions, live=True))
        if not context.jobs.any_active(users):
            spent[hour] = spooled[hour]
    return spent
