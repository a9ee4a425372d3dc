"""`gribmill jobs logs`: whole output, safe on a terminal, followed while a job runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gribmill.cli.text.terminal_text import safe, safe_lines
from gribmill.queue.model import AttemptRef, Succeeded
from gribmill.queue.store import Store
from gribmill.queue.worker.output import OutputLog, OutputLogs
from tests.cli.conftest import Run
from tests.cli.job_driver import add, by_hand, end, take


@pytest.fixture
def logs(data: Path) -> OutputLogs:
    return OutputLogs(data / "logs", 1_000_000)


def ended(store: Store, logs: OutputLogs, text: bytes) -> int:
    """A job that has ended and left a log."""
    job = add(store)
    OutputLog(logs, AttemptRef(job, 1)).write(text)
    end(store, Succeeded(), log_path=logs.name(AttemptRef(job, 1)), stdout_tail="x")
    return job


def test_log_is_printed_whole_or_from_its_last_lines(gribmill: Run, store: Store, logs: OutputLogs) -> None:
    lines = [f"line {n} {'x' * 500}\n" for n in range(500)]
    job = ended(store, logs, "".join(lines).encode())
    assert gribmill("jobs", "logs", str(job)).out == "".join(lines)
    assert gribmill("jobs", "logs", str(job), "--tail", "200").out == "".join(lines[-200:])
    assert gribmill("jobs", "logs", str(job), "--tail", "0").out == ""
    assert gribmill("jobs", "logs", str(job), "--tail", "900", "--follow").out == "".join(lines)
    assert "log logs/0/1-1.log" in gribmill("jobs", "show", str(job)).out


def test_last_lines_count_one_without_an_end(gribmill: Run, store: Store, logs: OutputLogs) -> None:
    job = ended(store, logs, b"a\nb\nc")
    assert gribmill("jobs", "logs", str(job), "--tail", "2").out == "b\nc"


def test_each_attempt_has_its_log(gribmill: Run, store: Store, data: Path) -> None:
    assert gribmill("jobs", "enqueue", "sleep", '{"fail": "once", "say": "hello"}').code == 0
    gribmill("definitions", "edit", "sleep", "backoff_base_s=0", "backoff_cap_s=0")
    gribmill("tick")
    gribmill("tick")
    (data / "logs" / "0" / "1-2.log").write_text("second\n")
    assert gribmill("jobs", "logs", "1").out == "second\n"
    assert gribmill("jobs", "logs", "1", "--attempt", "1").out == "hello\n"
    assert gribmill("jobs", "logs", "1", "--attempt", "3").err == "error: job 1 has no attempt 3\n"


def test_what_is_missing_is_explained(gribmill: Run, store: Store, logs: OutputLogs) -> None:
    pending = add(store)
    assert gribmill("jobs", "logs", str(pending)).err == f"error: job {pending} has not run yet\n"
    running = take(store, "w1")
    assert (
        gribmill("jobs", "logs", str(running.id)).err == f"attempt 1 of job {running.id} has written nothing so far\n"
    )
    OutputLog(logs, running.ref).write(b"so far\n")
    assert gribmill("jobs", "logs", str(running.id)).out == "so far\n", "the row does not name the log yet"
    job = ended(store, logs, b"x\n")
    logs.path(AttemptRef(job, 1)).unlink()
    assert "is not here: it was removed, or is on the machine of" in gribmill("jobs", "logs", str(job)).err
    assert gribmill("jobs", "logs", "99").code == 1


def test_manually_written_row_opens_no_other_file(gribmill: Run, store: Store, data: Path, logs: OutputLogs) -> None:
    job = ended(store, logs, b"x\n")
    (data / "secret.txt").write_text("secret")
    by_hand(data, "DROP TRIGGER job_attempts_keep_log")
    for name in ("secret.txt", "logs/../secret.txt", str(data / "secret.txt")):
        by_hand(data, f"UPDATE job_attempts SET log_path = '{name}'")
        assert "secret\n" not in gribmill("jobs", "logs", str(job)).out + "\n"
    (data / "logs" / "0" / "link.log").symlink_to(data / "secret.txt")
    by_hand(data, "UPDATE job_attempts SET log_path = 'logs/0/link.log'")
    assert gribmill("jobs", "logs", str(job)).out == ""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPdevice\x1b\\x", "x"),
        ("\x9b2Jx", "x"),
        ("\x1bc\x1b(Bx", "x"),
        ("a\tb\r", "a\tb"),
        ("10 %\r20 %", "10 %\\x0d20 %"),
        ("bell\x07 del\x7f", "bell\\x07 del\\x7f"),
        ("\u202eevil", "\\u202eevil"),
        ("\x1b[", ""),
    ],
)
def test_escape_sequences_are_removed_and_control_characters_shown(text: str, shown: str) -> None:
    assert safe(text) == shown


def test_text_in_parts_is_put_together() -> None:
    data = "Grüße\nzweite".encode()
    assert "".join(safe_lines(data[at : at + 1] for at in range(len(data)))) == "Grüße\nzweite"
    assert "".join(safe_lines([b"\xff\n", b"x" * 70_000])) == "�\n" + "x" * 70_000


def test_raw_prints_the_bytes_as_they_are(gribmill: Run, store: Store, logs: OutputLogs) -> None:
    job = ended(store, logs, b"\x1b[31mred\x1b[0m\n")
    assert gribmill("jobs", "logs", str(job)).out == "red\n"
    assert gribmill("jobs", "logs", str(job), "--raw").out == "\x1b[31mred\x1b[0m\n"


def test_prune_removes_the_logs_of_pruned_jobs(gribmill: Run, store: Store, logs: OutputLogs) -> None:
    ended(store, logs, b"x\n")
    OutputLog(logs, AttemptRef(77, 1)).write(b"of a job that is gone\n")
    dry = gribmill("jobs", "prune", "--dry-run", "--json").json
    assert (dry["logs"], logs.path(AttemptRef(77, 1)).exists()) == (1, True)
    gone = gribmill("jobs", "prune", "--completed-days", "0")
    assert gone.out.endswith(", and 2 logs of jobs that are gone\n")
    assert [*logs.folder.iterdir()] == []


def test_doctor_finds_and_removes_logs_of_removed_jobs(gribmill: Run, store: Store, logs: OutputLogs) -> None:
    OutputLog(logs, AttemptRef(77, 1)).write(b"x\n")
    assert "logs: 1 log of jobs that are gone" in gribmill("doctor").out
    assert "logs: removed 1 log of jobs that are gone" in gribmill("doctor", "--fix").out
    assert not logs.path(AttemptRef(77, 1)).exists()


@pytest.mark.process
def test_follow_prints_every_attempt_until_the_job_has_ended(gribmill: Run, data: Path) -> None:
    gribmill("definitions", "edit", "sleep", "backoff_base_s=0", "backoff_cap_s=0")
    gribmill("jobs", "enqueue", "sleep", '{"fail": "once", "say": "hello", "seconds": 0.3}')
    command = [sys.executable, "-m", "gribmill.cli.main", "--data", str(data), "jobs", "logs", "1", "--follow"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as follower:
        assert follower.stdout is not None
        assert follower.stderr is not None
        assert follower.stderr.readline() == "job 1 is pending; waiting for attempt 1\n"
        gribmill("tick")
        assert follower.stdout.readline() == "hello\n"
        gribmill("tick")
        assert (follower.stdout.read(), follower.wait(60)) == ("hello\n", 0)
