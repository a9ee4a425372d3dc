"""Ctrl-C while a command follows something: every command ends alike, with 130 and without a traceback."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gribmill.queue.model import NewJob
from gribmill.queue.store import Store

pytestmark = pytest.mark.process


def _heed_interrupts() -> None:
    """Restore interrupts: shells start background processes, including test runs, with interrupts ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.parametrize(
    "words",
    [
        "events tail --follow",
        "events tail --follow --json",
        "jobs logs 1 --follow",
        "jobs stats --watch",
        "jobs stats --watch --json",
        "status --watch",
        "status --watch --json",
    ],
)
def test_following_command_ends_with_130(data: Path, store: Store, words: str) -> None:
    store.jobs.enqueue(NewJob("sleep"))
    store.events.emit("folder.changed", {})
    command = [sys.executable, "-m", "gribmill", "--data", str(data), *words.split()]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, text=True, preexec_fn=_heed_interrupts, **pipes) as process:  # type: ignore[call-overload]
        assert process.stdout is not None
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
    assert process.returncode == 130, rest
    assert "Traceback" not in rest and "Aborted" not in rest
