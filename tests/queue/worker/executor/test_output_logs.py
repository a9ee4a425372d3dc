"""Logs of attempts: a job's whole output, in a file that outlives the process and is pruned with the job."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from gribmill.queue.model import AttemptRef, NewJob, Recovered
from gribmill.queue.store import Store
from gribmill.queue.worker.in_process import Ticker
from gribmill.queue.worker.output import OutputLog, OutputLogs, note_logs, orphaned_logs, remove_orphans
from tests.queue.store.store_driver import claim
from tests.queue.worker.worker_driver import SteppedWorker, Workers, attempts, enqueue
from tests.waiting import wait_until

LIMIT = 100_000
FIRST, SECOND = AttemptRef(7, 1), AttemptRef(1234, 2)


@pytest.fixture
def logs(tmp_path: Path) -> OutputLogs:
    (tmp_path / "data").mkdir(exist_ok=True)
    return OutputLogs(tmp_path / "data" / "logs", LIMIT)


def read(logs: OutputLogs, log_path: str | None) -> str:
    assert log_path is not None
    return (logs.folder.parent / log_path).read_text()


# Files


def test_log_is_created_with_the_first_line_and_is_private(logs: OutputLogs) -> None:
    log = OutputLog(logs, FIRST)
    assert not logs.folder.exists()
    assert log.name_for(FIRST) is None
    log.write(b"a\n")
    log.write(b"b\n")
    assert (log.name_for(FIRST), logs.path(FIRST).read_bytes()) == ("logs/0/7-1.log", b"a\nb\n")
    modes = {path.name: path.stat().st_mode & 0o7777 for path in (logs.folder, logs.folder / "0", logs.path(FIRST))}
    assert modes == {"logs": 0o750, "0": 0o750, "7-1.log": 0o640}
    log.close()
    assert log.name_for(FIRST) == "logs/0/7-1.log"


def test_log_ends_at_its_limit_with_whole_lines_and_a_remark(tmp_path: Path) -> None:
    logs = OutputLogs(tmp_path / "logs", 25)
    log = OutputLog(logs, FIRST)
    for n in range(10):
        log.write(f"line {n}\nand more\n".encode())
    lines = logs.path(FIRST).read_text().splitlines()
    assert lines[:-1] == ["line 0", "and more", "line 1"]
    assert lines[-1] == "[gribmill: output truncated; a log has at most 25 bytes]"
    assert log.closed


def test_log_of_a_database_that_was_replaced_is_replaced_and_its_copies_stay(logs: OutputLogs) -> None:
    old = OutputLog(logs, FIRST)
    old.write(b"old\n")
    assert old.name_for(SECOND) == "logs/1/1234-2.log"
    OutputLog(logs, FIRST).write(b"new\n")
    assert (logs.path(FIRST).read_bytes(), logs.path(SECOND).read_bytes()) == (b"new\n", b"old\n")


def test_unwritable_log_does_not_fail_the_job(logs: OutputLogs, caplog: pytest.LogCaptureFixture) -> None:
    logs.folder.write_text("a file in the place of the folder")
    log = OutputLog(logs, FIRST)
    log.write(b"a\n")
    log.write(b"b\n")
    assert (log.closed, log.name_for(FIRST)) == (True, None)
    assert "the log of job 7 cannot be written" in caplog.text


def test_data_root_is_created_for_the_first_log(tmp_path: Path) -> None:
    logs = OutputLogs(tmp_path / "new" / "data" / "logs", LIMIT)
    OutputLog(logs, FIRST).write(b"a\n")
    assert logs.path(FIRST).read_bytes() == b"a\n"


def test_no_logs_are_written_with_a_limit_of_zero(tmp_path: Path) -> None:
    assert OutputLogs(tmp_path, 0).open(FIRST) is None


# Logs and rows


def test_logs_are_pruned_with_their_attempts(store: Store, logs: OutputLogs) -> None:
    job = store.jobs.enqueue(NewJob("stunt", {"do": "speak", "text": "x\n"})).id
    Ticker(store, 60.0, logs=logs).tick(1)
    OutputLog(logs, AttemptRef(job, 2)).write(b"of no attempt\n")
    OutputLog(logs, SECOND).write(b"of no job\n")
    (logs.folder / "notes.txt").write_text("from another program")
    kept = logs.path(AttemptRef(job, 1))
    assert all(kept not in orphans for orphans in orphaned_logs(store, logs))
    assert sum(remove_orphans(store, logs)) == 2
    assert sorted(path.name for path in logs.folder.rglob("*") if path.is_file()) == [f"{job}-1.log", "notes.txt"]
    store.maintenance.prune(0, 0)
    assert sum(remove_orphans(store, logs)) == 1
    assert [path.name for path in logs.folder.iterdir()] == ["notes.txt"]


def test_tick_keeps_prints_and_log_lines_without_secrets(store: Store, logs: OutputLogs) -> None:
    job = store.jobs.enqueue(NewJob("stunt", {"do": "log", "text": "password=hunter22"})).id
    Ticker(store, 60.0, logs=logs).tick(1)
    (run,) = attempts(store, job)
    text = read(logs, run.log_path)
    assert "printed password=[redacted]\n" in text
    assert "logged password=[redacted]" in text
    assert "logged password=[redacted]" in (run.stderr_tail or "")
    assert "hunter22" not in text


def test_job_in_a_tick_whose_log_cannot_be_written_succeeds(store: Store, logs: OutputLogs) -> None:
    logs.folder.write_text("a file in the place of the folder")
    job = store.jobs.enqueue(NewJob("stunt", {"do": "log", "text": "x"})).id
    (ran,) = Ticker(store, 60.0, logs=logs).tick(1)
    assert store.jobs.get(job).status == "completed", ran
    assert attempts(store, job)[0].log_path is None


def test_job_that_prints_nothing_has_no_log(store: Store, logs: OutputLogs) -> None:
    job = store.jobs.enqueue(NewJob("stunt", {"do": "nothing"})).id
    Ticker(store, 60.0, logs=logs).tick(1)
    assert attempts(store, job)[0].log_path is None
    assert not logs.folder.exists()


# Workers


@pytest.mark.process
def test_whole_output_of_each_attempt_is_kept_without_secrets(
    new_worker: Callable[..., SteppedWorker], logs: OutputLogs
) -> None:
    worker = new_worker(logs=logs)
    _, (spoken,) = worker.run("speak", text="token=abcdef\nno line end")
    assert sorted(read(logs, spoken.log_path).splitlines()) == ["no line end"] * 2 + ["token=[redacted]"] * 2
    _, (shouted,) = worker.run("shout", count=50)
    text = read(logs, shouted.log_path)
    assert len(text) > 50_000 > len(shouted.stdout_tail or "")
    assert text.startswith(f"{0:>12} xxx")
    assert text.endswith("the end\n")
    _, (cut,) = worker.run("shout", count=500)
    assert read(logs, cut.log_path).endswith(f"a log has at most {LIMIT} bytes]\n")
    _, (silent,) = worker.run("nothing")
    assert silent.log_path is None


@pytest.mark.process
def test_jobs_of_a_batch_share_a_log_and_each_has_its_name(
    new_worker: Callable[..., SteppedWorker], store: Store, logs: OutputLogs
) -> None:
    ids = [one.id for one in store.jobs.enqueue_many([NewJob("group", {"group": "g", "n": n}) for n in range(3)])]
    new_worker(logs=logs, lanes={"fetch": 1, "build": 1}).finish(*ids)
    texts = [read(logs, attempts(store, job_id)[0].log_path) for job_id in ids]
    assert len({attempts(store, job_id)[0].log_path for job_id in ids}) == 3
    assert texts == ["made 0\nmade 1\nmade 2\n"] * 3


@pytest.mark.process
def test_attempt_whose_process_was_killed_keeps_what_it_printed(
    new_worker: Callable[..., SteppedWorker], store: Store, logs: OutputLogs
) -> None:
    worker = new_worker(logs=logs)
    job, (run, *_) = worker.run("say_and_die", max_attempts=1, text="the last words")
    assert (job.status, run.status) == ("failed", "failed")
    assert read(logs, run.log_path) == "the last words"


@pytest.mark.process
def test_attempt_whose_worker_was_killed_keeps_its_log(
    workers: Workers, store: Store, database: Path, logs: OutputLogs, tmp_path: Path
) -> None:
    ids = [enqueue(store, "say_and_hold", text="before\n", path=str(tmp_path / "held"))]
    worker = workers.start(database, logs=[str(logs.folder), LIMIT])
    ref = AttemptRef(ids[0], 1)
    wait_until(lambda: logs.path(ref).exists() and logs.path(ref).read_text() == "before\n", 60, "the log")
    os.kill(worker.pid, signal.SIGKILL)
    worker.wait()
    found = store.maintenance.recover_dead_processes()
    assert len(found) == 1
    note_logs(store, logs, found)
    (run,) = attempts(store, ids[0])
    assert (run.status, read(logs, run.log_path)) == ("lost", "before\n")


def test_lost_sibling_gets_the_log_of_its_batch(store: Store, logs: OutputLogs) -> None:
    ids = [one.id for one in store.jobs.enqueue_many([NewJob("group", {"group": "g", "n": n}) for n in range(2)])]
    assert [job.id for job in claim(store, types=("group",))] == ids
    OutputLog(logs, AttemptRef(ids[0], 1)).write(b"both\n")
    with store.database.write() as tx:
        found = tx.recover_worker("w1")
    note_logs(store, logs, found)
    assert [read(logs, attempts(store, job_id)[0].log_path) for job_id in ids] == ["both\n", "both\n"]
    note_logs(store, None, Recovered((ids[0],)))
