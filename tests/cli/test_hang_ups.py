"""HUP, as a closed terminal sends it: like TERM, but several count as one."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import signal
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from gribmill.queue.store import Store
from tests.waiting import wait_until

pytestmark = pytest.mark.process

OFFLINE = "".join(f'{name} = "http://127.0.0.1:9/"\n' for name in ("aws-hrrr", "gcs-hrrr", "nomads-hrrr"))


@pytest.mark.parametrize(
    ("words", "ready"),
    [
        ("work", " runs "),
        ("run --model hrrr --region ne", " runs "),
        ("run --model hrrr --region ne --serve --port 0", "listening on "),
        ("serve --port 0", "listening on "),
        ("sandbox files --port 0", "serving "),
    ],
)
def test_command_whose_terminal_is_closed_ends_like_after_term(
    data: Path, store: Store, tmp_path: Path, words: str, ready: str
) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "offline.toml").write_text(f"[roots]\n{OFFLINE}")
    here, there = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "gribmill", "--config", "offline.toml", "--data", str(data), *words.split()],
        stdin=there, stdout=there, stderr=there, cwd=tmp_path, start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )  # fmt: skip
    try:
        os.close(there)
        shown = b""
        while ready.encode() not in shown:
            shown += os.read(here, 4096)
        os.close(here)
        assert process.wait(60) == 0
    finally:
        process.kill()
    assert {row.state for row in store.workers.list()} <= {"stopped"}


def test_work_goes_on_ignoring_hup_under_nohup(data: Path, store: Store) -> None:
    command = [sys.executable, "-m", "gribmill", "--data", str(data), "work", "--lanes", "fetch=1"]
    with subprocess.Popen(
        command, stderr=subprocess.DEVNULL, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)
    ) as process:
        wait_until(lambda: store.workers.list(), what="the worker, which listens to signals before it registers")
        (ignored,) = re.findall(r"SigIgn:\s*(\w+)", Path(f"/proc/{process.pid}/status").read_text())
        process.send_signal(signal.SIGTERM)
    assert process.returncode == 0
    assert int(ignored, 16) & 1 << (signal.SIGHUP - 1)
