"""What attempts print: the tail that the queue stores, and the full log in a file."""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from gribmill.queue.model import AttemptRef, Recovered
from gribmill.queue.redact import redact
from gribmill.queue.store import Store
from gribmill.queue.worker.outage import ThrottledLog

# Before the umask; the usual 022 leaves 0640 and 0750.
FILE_MODE = 0o640
FOLDER_MODE = 0o750
JOBS_PER_FOLDER = 1000
_NAME = re.compile(r"([1-9][0-9]{0,18})-([1-9][0-9]{0,9})\.log")
TAIL_BYTES = 8192
# Longer lines are passed on in parts.
LINE_LIMIT = 65_536


@dataclass(frozen=True, slots=True)
class OutputLogs:
    """The folder with the logs of all attempts. Callers must redact output before writing it."""

    folder: Path
    limit_bytes: int
    """The size limit of each log; 0 disables logs."""
    trouble: ThrottledLog = field(default_factory=ThrottledLog, compare=False)

    def open(self, head: AttemptRef) -> OutputLog | None:
        """Open the log of a new attempt; None if logs are disabled."""
        return OutputLog(self, head) if self.limit_bytes else None

    def path(self, ref: AttemptRef) -> Path:
        return self.folder / str(ref.job_id // JOBS_PER_FOLDER) / f"{ref.job_id}-{ref.attempt_no}.log"

    def name(self, ref: AttemptRef) -> str:
        """The value of `log_path`: relative to the data root, which may be moved."""
        return self.path(ref).relative_to(self.folder.parent).as_posix()

    def find(self, ref: AttemptRef) -> str | None:
        """The name of an attempt's log, if it exists."""
        return self.name(ref) if self.path(ref).is_file() else None

    def link(self, head: AttemptRef, ref: AttemptRef) -> str | None:
        """Link an attempt to the log of its batch; returns the name, or None if there is no log."""
        with contextlib.suppress(FileExistsError):
            try:
                _make_folder(self.path(ref).parent)
                os.link(self.path(head), self.path(ref), follow_symlinks=False)
            except FileNotFoundError:
                return None
            except OSError:  # a file system without hard links
                return self.name(head)
        return self.name(ref)

    def buckets(self) -> Iterator[tuple[range, dict[AttemptRef, Path]]]:
        """Existing logs, a thousand jobs at a time: their ids, and the log of each attempt."""
        for folder in _entries(self.folder):
            if not re.fullmatch(r"0|[1-9][0-9]{0,15}", folder.name):
                continue
            first = int(folder.name) * JOBS_PER_FOLDER
            named = ((_NAME.fullmatch(path.name), path) for path in _entries(folder))
            logs = {AttemptRef(int(match[1]), int(match[2])): path for match, path in named if match}
            yield range(first, first + JOBS_PER_FOLDER), logs

    def remove_empty_folders(self) -> None:
        for folder in _entries(self.folder):
            with contextlib.suppress(OSError):  # most are not empty
                folder.rmdir()


class OutputLog:
    """The log of one attempt, or of a batch, under the name of its head. Writes are not buffered."""

    def __init__(self, logs: OutputLogs, head: AttemptRef) -> None:
        self._logs = logs
        self._head = head
        self._fd: int | None = None
        self._size = 0
        self._closed = False

    def write(self, data: bytes) -> None:
        """Append whole lines. Output beyond the limit, or after a write error, is dropped."""
        if not data or self._closed:
            return
        room = self._logs.limit_bytes - self._size
        full = len(data) > room
        if full:
            data = data[: data.rfind(b"\n", 0, max(0, room)) + 1] + self._marker
        try:
            if self._fd is None:
                self._fd = _create(self._logs.path(self._head))
            self._size += len(data)
            while data:
                data = data[os.write(self._fd, data) :]
        except OSError as error:
            self.close()  # before logging: in a tick, the log line is written here too
            self._logs.trouble.tell(f"the log of job {self._head.job_id} cannot be written: {error.strerror}")
        if full:
            self.close()

    @property
    def _marker(self) -> bytes:
        return f"[gribmill: output truncated; a log has at most {self._logs.limit_bytes} bytes]\n".encode()

    @property
    def closed(self) -> bool:
        return self._closed

    def name_for(self, ref: AttemptRef) -> str | None:
        """The name of the log for one attempt of the batch; None if nothing was written."""
        if self._fd is None:
            return None
        return self._logs.name(ref) if ref == self._head else self._logs.link(self._head, ref)

    def close(self) -> None:
        """Close the file; the name stays known."""
        if self._fd is not None and not self._closed:
            os.close(self._fd)
        self._closed = True


def note_logs(store: Store, logs: OutputLogs | None, recovered: Recovered) -> None:
    """Record the logs of attempts whose worker died before it could report them."""
    if logs is None:
        return
    for job_id in (*recovered.requeued, *recovered.ended):
        for lost in store.attempts.lost_without_log(job_id):
            shared = logs.link(lost.head, lost.ref) if lost.head != lost.ref else None
            if name := logs.find(lost.ref) or shared:
                store.attempts.set_log(lost.ref, name)


def orphaned_logs(store: Store, logs: OutputLogs) -> Iterator[list[Path]]:
    """Logs whose attempts were removed, or were never in this database: those of a thousand jobs at a time."""
    for ids, found in logs.buckets():
        known = store.attempts.within(ids)
        yield [path for ref, path in found.items() if ref not in known]


def remove_orphans(store: Store, logs: OutputLogs) -> Iterator[int]:
    """Remove orphaned logs; yields how many of each thousand jobs."""
    for orphans in orphaned_logs(store, logs):
        for path in orphans:
            path.unlink(missing_ok=True)
        yield len(orphans)
    logs.remove_empty_folders()


class OutputTail:
    """Keeps the end of a stream: twice as many bytes as it returns, so that secrets stay next to their names."""

    def __init__(self, limit: int = TAIL_BYTES) -> None:
        self._limit = limit
        self._bytes = bytearray()

    def add(self, data: bytes) -> None:
        self._bytes += data[-2 * self._limit :]
        del self._bytes[: -2 * self._limit]

    def clear(self) -> None:
        self._bytes.clear()

    def text(self) -> str | None:
        """The tail, redacted."""
        if not self._bytes:
            return None
        text = redact(self._bytes.decode("utf-8", errors="replace").replace("\x00", "�"))
        if len(text) > self._limit:
            last = text[-self._limit :]
            _, newline, lines = last.partition("\n")
            text = "…" + (lines if newline and lines else last)
        return text


class WholeLines:
    """Passes on complete lines only: in a fragment, a secret could be separated from its name and not be recognised."""

    def __init__(self) -> None:
        self._rest = b""

    def add(self, data: bytes, *, last: bool = False) -> bytes:
        """The lines that are complete now; with `last`, also the rest."""
        data = self._rest + data
        end = len(data) if last or len(data) > LINE_LIMIT else data.rfind(b"\n") + 1
        self._rest = data[end:]
        return data[:end]


def _create(path: Path) -> int:
    """Create the file. An existing one belongs to a database that was since replaced."""
    _make_folder(path.parent)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(path, flags, FILE_MODE)
    except FileExistsError:
        path.unlink()
        return os.open(path, flags, FILE_MODE)
    except FileNotFoundError:  # the folder was just removed with its last log
        _make_folder(path.parent)
        return os.open(path, flags, FILE_MODE)


def _make_folder(folder: Path) -> None:
    """Create the folder of a thousand jobs and its parent, both with FOLDER_MODE, which `parents` would not apply to
    the parent. With a database server, the data root may not exist yet."""
    folder.parent.parent.mkdir(parents=True, exist_ok=True)
    for one in (folder.parent, folder):
        one.mkdir(FOLDER_MODE, exist_ok=True)


def _entries(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return sorted(folder / entry.name for entry in entries)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            return []
        raise
