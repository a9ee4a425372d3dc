"""Which spool file has the recorded content of an hour, and under which generation new content is stored.

The name of a spool file includes the generation, and files are never replaced: a download that resumes after a long
suspension finds its name taken, and uses another one that no record mentions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from gribmill.catalogue.records import HourRecord
from gribmill.identity import HourRef
from gribmill.ingest.download.download import is_being_downloaded
from gribmill.ingest.download.download_plan import Downloaded
from gribmill.storage.layout import DataRoot
from gribmill.tiles.format.meta_member import generation_of


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
        for generation in range(self.first, self.first + 1000):
            yield self.root.spool(self.hour, generation)


def _same_content(known: HourRecord, got: Downloaded) -> bool:
    return (known.sha256, {*known.found}, {*known.missing}) == (got.sha256, {*got.found}, {*got.missing})
