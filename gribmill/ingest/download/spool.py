"""The partial file of a download, with a journal of verified pieces; renamed to its target when it is complete."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from gribmill.ingest.errors import IngestError
from gribmill.storage.atomic import is_no_space
from gribmill.storage.layout import journal_of, part_of

BLOCK_BYTES = 1 << 20
# A journal line has about 90 bytes, and no file has more pieces than download_plan.MOST_RANGES.
JOURNAL_LIMIT_BYTES = 8_000_000
# Errors from file systems without hard links.
WITHOUT_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


class SpoolBusy(IngestError):
    """Another process is writing the same file."""


class Spool:
    """The partial file of one download. Use it as a context manager; only one process at a time can hold it.

    Pieces that an earlier process verified are kept if `begin` is called with the same identity.
    """

    def __init__(self, target: Path) -> None:
        self.target = target
        self.part = part_of(target)
        self.journal = journal_of(target)
        self.verified: dict[int, str] = {}
        self._places: Sequence[int] = (0,)
        self._part = self._journal = -1
        self._lock = threading.Lock()

    def __enter__(self) -> Spool:
        self._journal = self._locked()
        try:
            self._part = os.open(self.part, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError:
            os.close(self._journal)  # also releases the lock, which would otherwise outlive this download
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        full = isinstance(error, OSError) and is_no_space(error)
        if kind is not None and (full or not self.verified):
            self.discard()
        for place in (self._part, self._journal):
            os.close(place)

    def begin(self, identity: str | None, places: Sequence[int]) -> None:
        """Prepares for pieces between these offsets; keeps those in the journal whose checksums still match."""
        kept = self._read_journal(identity, len(places) - 1)
        self._places = places
        self.verified = {number: digest for number, digest in kept.items() if self._digest(number) == digest}
        lines = [identity or "", *(json.dumps([number, digest]) for number, digest in self.verified.items())]
        os.ftruncate(self._journal, 0)
        os.pwrite(self._journal, "".join(f"{line}\n" for line in lines).encode(), 0)
        os.ftruncate(self._part, places[-1])

    def write(self, offset: int, data: bytes) -> None:
        """Writes bytes at an offset."""
        view = memoryview(data)
        while view:
            count = os.pwrite(self._part, view, offset)
            view, offset = view[count:], offset + count

    def read(self, offset: int, count: int) -> bytes:
        """Reads bytes that were written."""
        return os.pread(self._part, count, offset)

    def until(self, end: int) -> SpoolBytes:
        """The bytes before `end`, to be read in slices."""
        return SpoolBytes(self, end)

    def mark(self, number: int, digest: str) -> None:
        """Records a piece as verified; after a crash, its checksum shows whether it reached the disk."""
        with self._lock:
            self.verified[number] = digest
            os.write(self._journal, (json.dumps([number, digest]) + "\n").encode())

    def grown(self, size: int) -> None:
        """Makes the written bytes, whose size was not known before, a single piece."""
        self._places, self.verified = (0, size), {0: ""}

    def sha256(self) -> str:
        """The SHA-256 of the whole file."""
        return self._sha256(0, self._places[-1])

    def finish(self, places: Iterable[Path] | None = None) -> Path:
        """Moves the complete file to its target, or to the first free one of these places; returns its path.

        An existing file at one of the places is never replaced; if it has the same bytes, it is used.
        """
        missing = set(range(len(self._places) - 1)) - self.verified.keys()
        assert not missing, f"pieces {sorted(missing)[:5]} were never verified"
        os.fsync(self._part)
        path = self.target if places is None else self._first_free(places)
        if places is None:
            self.part.replace(path)
        self.part.unlink(missing_ok=True)
        self.journal.unlink(missing_ok=True)
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
        return path

    def _first_free(self, places: Iterable[Path]) -> Path:
        """Creates the file if it does not exist, like a conditional PUT (If-None-Match: *) on an object store."""
        digest = ""
        for path in places:
            try:
                os.link(self.part, path)
                return path
            except FileExistsError:
                digest = digest or self.sha256()
                if _sha256_of(path) == digest:
                    return path
            except OSError as error:
                if error.errno not in WITHOUT_LINKS:
                    raise
                if not path.exists():
                    self.part.replace(path)
                    return path
        raise SpoolBusy(f"there is no free name beside {self.target}")

    def discard(self) -> None:
        """Removes the unfinished file and its journal."""
        self.part.unlink(missing_ok=True)
        self.journal.unlink(missing_ok=True)

    def _locked(self) -> int:
        while True:
            place = self._opened_journal()
            try:
                fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(place)
                raise SpoolBusy(f"another process is downloading {self.target}") from None
            # The previous holder may have finished and removed the journal between the two calls.
            with contextlib.suppress(FileNotFoundError):
                if self.journal.stat().st_ino == os.fstat(place).st_ino:
                    return place
            os.close(place)

    def _opened_journal(self) -> int:
        try:
            return self._open_in_folder()
        except FileNotFoundError:
            # Another process removed the empty folder after it was created here and before it was used.
            return self._open_in_folder()

    def _open_in_folder(self) -> int:
        self.target.parent.mkdir(parents=True, exist_ok=True)
        return os.open(self.journal, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_APPEND, 0o644)

    def _read_journal(self, identity: str | None, count: int) -> dict[int, str]:
        """The verified pieces of the same object, up to the first incomplete line."""
        data = os.pread(self._journal, JOURNAL_LIMIT_BYTES, 0)
        first, *lines = data.decode("utf-8", "replace").split("\n")
        if identity is None or first != identity:
            return {}
        kept: dict[int, str] = {}
        for line in lines:
            try:
                number, digest = json.loads(line)
            except (ValueError, TypeError):
                break
            if isinstance(number, int) and isinstance(digest, str) and 0 <= number < count:
                kept[number] = digest
        return kept

    def _digest(self, number: int) -> str:
        return self._sha256(self._places[number], self._places[number + 1])

    def _sha256(self, start: int, end: int) -> str:
        digest = hashlib.sha256()
        while start < end:
            block = self.read(start, min(BLOCK_BYTES, end - start))
            if not block:
                return ""
            digest.update(block)
            start += len(block)
        return digest.hexdigest()


def whole_path(target: Path) -> Path:
    """The temporary path of a whole file that is fetched first, where the index cannot be used."""
    return target.with_name(f".{target.name}.whole")


def is_locked(target: Path) -> bool:
    """Whether another process, possibly a suspended one, is downloading the target."""
    try:
        place = os.open(journal_of(target), os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False  # no journal; the download itself reports other problems with the folder
    try:
        fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(place)
    return False


def _sha256_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return ""


@dataclass(frozen=True, slots=True)
class SpoolBytes:
    """The bytes of a spool before `end`, read when sliced."""

    spool: Spool
    end: int

    def __len__(self) -> int:
        return self.end

    def __getitem__(self, part: slice, /) -> bytes:
        start, stop, _ = part.indices(self.end)
        return self.spool.read(start, max(stop - start, 0))
