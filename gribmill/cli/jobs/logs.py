"""`gribmill jobs logs`: the complete output of an attempt."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gribmill.cli.options.ids import ID
from gribmill.cli.patience import patiently
from gribmill.cli.text.terminal_text import safe_lines
from gribmill.errors import GribmillError
from gribmill.pipeline.open_queue import open_queue_for_reading, output_logs
from gribmill.queue.model import FINISHED, AttemptRef
from gribmill.settings.schema import Settings

if TYPE_CHECKING:
    from gribmill.queue.model import Attempt
    from gribmill.queue.store import Store
    from gribmill.queue.worker.output import OutputLogs

CHUNK_BYTES = 65_536
LOOK_AGAIN_SECONDS = 0.2


class NoSuchAttempt(GribmillError):
    """The job has no attempt with that number."""


@click.command()
@click.argument("job_id", type=ID, metavar="ID")
@click.option(
    "--attempt", "attempt_no", type=click.IntRange(1), metavar="N", help="Of this attempt. [default: the last]"
)
@click.option("--tail", "tail", type=click.IntRange(0), metavar="N", help="Only the last N lines.")
@click.option(
    "-f", "--follow", is_flag=True, help="Keep printing until the job, or the attempt of --attempt, has ended."
)
@click.option("--raw", is_flag=True, help="Print the bytes as they are stored, escape sequences included.")
@click.pass_obj
def logs(settings: Settings, job_id: int, attempt_no: int | None, tail: int | None, follow: bool, raw: bool) -> None:
    """Print the output of a job: stdout and stderr, including its log lines.

    Secrets are removed before it is stored. Escape sequences are removed, and control
    characters shown as \\x.., unless --raw is given. A log has at most queue.log_megabytes
    and is removed with its job. Jobs of one batch share a log.

    \b
    gribmill jobs logs 12 --follow
    gribmill jobs logs 12 --attempt 1 --tail 50
    """
    reader = _Reader(open_queue_for_reading(settings), output_logs(settings), job_id, tail=tail, raw=raw)
    if follow:
        reader.follow(attempt_no)
    else:
        reader.print_attempt(reader.attempt(attempt_no))


class _Reader:
    """Prints the logs of one job."""

    def __init__(self, store: Store, logs: OutputLogs, job_id: int, *, tail: int | None, raw: bool) -> None:
        self._store = store
        self._logs = logs
        self._job_id = job_id
        self._tail = tail
        self._raw = raw

    def attempt(self, number: int | None) -> Attempt:
        """The attempt with that number, or the last one; raises NoSuchAttempt if there is none."""
        attempts = self._store.jobs.history(self._job_id).attempts
        found = next((one for one in reversed(attempts) if number in (None, one.attempt_no)), None)
        if found is None:
            which = "has not run yet" if number is None else f"has no attempt {number}"
            raise NoSuchAttempt(f"job {self._job_id} {which}")
        return found

    def print_attempt(self, attempt: Attempt) -> None:
        path = self._path(attempt)
        if path is None:
            _explain(attempt)
            return
        with path.open("rb") as file:
            self._print(_last_lines(file.fileno(), self._tail))

    def follow(self, number: int | None) -> None:
        """Print attempt after attempt until the job has ended, or only the requested attempt."""
        current = number or max(1, self._store.jobs.get(self._job_id).attempt_no)
        announced = 0
        while True:
            job = patiently(lambda: self._store.jobs.get(self._job_id))
            if job.attempt_no >= current:
                self._follow_attempt(current)
                if number is not None:
                    return
                current += 1
            elif job.status in FINISHED:
                if number is not None or job.attempt_no == 0:
                    self.attempt(number)  # raises NoSuchAttempt
                return
            else:
                if announced < current:
                    click.echo(f"job {self._job_id} is {job.status}; waiting for attempt {current}", err=True)
                announced = current
                time.sleep(LOOK_AGAIN_SECONDS)

    def _follow_attempt(self, number: int) -> None:
        fd: int | None = None
        try:
            while True:
                # Before reading, so that nothing written before its end is missed.
                attempt = patiently(lambda: self.attempt(number))
                if fd is None and (path := self._path(attempt)):
                    fd = os.open(path, os.O_RDONLY)
                    self._print(_last_lines(fd, self._tail))
                elif fd is not None:
                    self._print(_chunks(fd))
                if attempt.status != "running":
                    if fd is None:
                        _explain(attempt)
                    return
                time.sleep(LOOK_AGAIN_SECONDS)
        finally:
            if fd is not None:
                os.close(fd)

    def _path(self, attempt: Attempt) -> Path | None:
        """The path of the attempt's log. While an attempt is running, its row does not have `log_path` yet."""
        ref = AttemptRef(attempt.job_id, attempt.attempt_no)
        path = self._logs.folder.parent / attempt.log_path if attempt.log_path else self._logs.path(ref)
        # A manually edited row may point anywhere.
        inside = path.resolve().is_relative_to(self._logs.folder.resolve())
        return path if inside and path.is_file() else None

    def _print(self, chunks: Iterator[bytes]) -> None:
        if self._raw:
            for chunk in chunks:
                sys.stdout.buffer.write(chunk)
            sys.stdout.buffer.flush()
            return
        for line in safe_lines(chunks):
            click.echo(line, nl=False)


def _explain(attempt: Attempt) -> None:
    what = f"attempt {attempt.attempt_no} of job {attempt.job_id}"
    if attempt.log_path:
        where = f"it was removed, or is on the machine of {attempt.worker_id}"
        text = f"{attempt.log_path}, the log of {what}, is not here: {where}"
    elif attempt.status == "running":
        text = f"{what} has written nothing so far"
    else:
        text = f"{what} has no log: it wrote nothing, or logs were switched off"
    click.echo(text, err=True)


def _chunks(fd: int) -> Iterator[bytes]:
    while chunk := os.read(fd, CHUNK_BYTES):
        yield chunk


def _last_lines(fd: int, count: int | None) -> Iterator[bytes]:
    """The file from its beginning, or only its last `count` lines."""
    if count is not None:
        os.lseek(fd, _start_of_last(fd, count), os.SEEK_SET)
    return _chunks(fd)


def _start_of_last(fd: int, count: int) -> int:
    """The offset at which the last `count` lines begin."""
    end = os.lseek(fd, 0, os.SEEK_END)
    at, wanted = end, count + 1  # the last line also ends with a line feed
    while at > 0:
        begin = max(0, at - CHUNK_BYTES)
        data = os.pread(fd, at - begin, begin)
        if at == end and data and not data.endswith(b"\n"):
            wanted -= 1
        for offset in range(len(data) - 1, -1, -1):
            if data[offset] == 0x0A:
                wanted -= 1
                if wanted <= 0:
                    return begin + offset + 1
        at = begin
    return 0
