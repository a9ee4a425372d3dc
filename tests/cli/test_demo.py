"""The demo passes its checks and touches only its own folder."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from gribmill.cli.demo.folder import MARKER
from gribmill.cli.demo.stage import Stage
from tests.cli.conftest import Run

STEPS = "gribmill.cli.demo.command.QUEUE_STEPS"


@pytest.mark.process
def test_demo_passes_every_check_with_real_processes(data: Path) -> None:
    data.mkdir()
    (data / "jobs.db").write_bytes(b"the user's own")
    done = subprocess.run(
        [sys.executable, "-m", "gribmill", "--data", str(data), "demo", "queue", "--no-serve"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 failed" in done.stdout and "kill -9" in done.stdout
    assert (data / "jobs.db").read_bytes() == b"the user's own"
    assert sorted(path.name for path in data.iterdir()) == ["demo", "jobs.db"]
    commands = [line.partition("$ ")[2] for line in done.stdout.splitlines() if line.startswith("  $ ")]
    last = next(line for line in reversed(commands) if " jobs " in line)
    assert subprocess.run(last, shell=True, capture_output=True, check=False).returncode == 0, last


@pytest.mark.soak
def test_demo_of_the_chain_passes_every_check(data: Path) -> None:
    command = [sys.executable, "-m", "gribmill", "--data", str(data), "demo", "chain", "--no-serve"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 failed" in done.stdout and "latest" not in done.stderr


@pytest.mark.process
def test_demo_ends_with_the_console_open_until_it_is_interrupted(data: Path) -> None:
    script = "import gribmill.cli.demo.command as c; c.QUEUE_STEPS = []; from gribmill.cli.main import cli; cli()"
    command = [sys.executable, "-c", script, "--data", str(data), "demo", "queue"]
    with socket.socket() as taken, subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with contextlib.suppress(OSError):
            taken.bind(("127.0.0.1", 8760))  # occupies the default port, unless it is in use already
            taken.listen()
        assert process.stdout is not None
        try:
            line = next(line for line in process.stdout if "Ctrl-C" in line)
            url = next(word for word in line.split() if word.startswith("http://127.0.0.1:"))
            assert "<h1>Overview</h1>" in httpx.get(url, timeout=60).text
            process.send_signal(signal.SIGINT)
            assert "The console is closed." in process.stdout.read()
        except BaseException:
            process.kill()
            raise
    assert process.returncode == 0


def test_failed_check_or_step_is_exit_code_1(gribmill: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(stage: Stage) -> None:
        """Fails its check"""
        stage.check(False, "the moon is made of cheese")

    def fails(stage: Stage) -> None:
        """Times out"""
        stage.wait_until("the moon comes down", lambda: False, 0.0)

    def goes_on(stage: Stage) -> None:
        """Goes on"""
        stage.check(True, "later steps still run")

    monkeypatch.setattr(STEPS, [breaks, fails, goes_on])
    answer = gribmill("demo", "queue", "--no-serve")
    assert answer.code == 1
    assert "1 checks passed, 2 failed" in answer.out
    assert "FAILED  the moon is made of cheese" in answer.out and "waiting until the moon comes down" in answer.out


@pytest.mark.process
def test_no_process_is_left_behind_when_a_step_crashes(gribmill: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []

    def crashes(stage: Stage) -> None:
        """Crashes"""
        started.append(stage.start_worker())
        raise ZeroDivisionError

    monkeypatch.setattr(STEPS, [crashes])
    with pytest.raises(ZeroDivisionError):
        gribmill("demo", "queue", "--no-serve")
    assert started[0].poll() is not None


def test_folder_of_others_is_not_touched(gribmill: Run, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(STEPS, [])
    (data / "demo" / "queue").mkdir(parents=True)
    (data / "demo" / "queue" / "precious").write_text("mine")
    answer = gribmill("demo", "queue", "--no-serve")
    assert answer.code == 1 and "not touched" in answer.err
    assert (data / "demo" / "queue" / "precious").read_text() == "mine"


def test_last_demos_folder_is_emptied_but_nothing_it_points_to(
    gribmill: Run, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(STEPS, [])
    assert gribmill("demo", "queue", "--no-serve").code == 0
    (data / "demo" / "queue" / "old").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "precious").write_text("mine")
    (data / "demo" / "queue" / "link").symlink_to(tmp_path / "elsewhere")
    assert gribmill("demo", "queue", "--no-serve").code == 0
    assert not (data / "demo" / "queue" / "old").exists() and not (data / "demo" / "queue" / "link").exists()
    assert (tmp_path / "elsewhere" / "precious").read_text() == "mine"


def test_two_demos_do_not_share_a_folder(gribmill: Run, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(STEPS, [])
    assert gribmill("demo", "queue", "--no-serve").code == 0
    handle = os.open(data / "demo" / "queue" / MARKER, os.O_RDWR)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        answer = gribmill("demo", "queue", "--no-serve")
    finally:
        os.close(handle)
    assert answer.code == 1 and "another demo is running" in answer.err


def test_a_folder_that_cannot_be_written_is_an_error(gribmill: Run) -> None:
    answer = gribmill("demo", "queue", "--no-serve", flags=("--data", "/dev/null/data"))
    assert answer.code == 1 and answer.err.startswith("error: cannot create the folder /dev/null/data/demo/queue")
