"""One server of each kind per test run, shared by all of pytest's processes.

The first process that needs a server starts it, under a guardian (`guardian.py`) that ends it when the run is over,
even if the run was killed. Facts about it, such as its port, are left in a folder for the others.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.servers.this_run import RUN_PID


@dataclass(frozen=True)
class Started:
    """How a server is started, and what its users need to know of it (as JSON)."""

    command: list[str]
    facts: dict[str, Any]
    environment: dict[str, str] = field(default_factory=dict)


def shared_server(name: str, start: Callable[[Path], Started]) -> dict[str, Any]:
    """The facts of the server of this name; it is started if no process of this test run has done so.

    `start` gets an empty folder for the server's files.
    """
    home = Path(tempfile.gettempdir()) / f"gribmill-{name}-{os.getuid()}-{RUN_PID}"
    home.mkdir(mode=0o700, exist_ok=True)
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = home / "facts.json"
        if not known.exists():
            started = start(home)
            guard(home, started)
            known.write_text(json.dumps({**started.facts, "home": str(home)}))
        found: dict[str, Any] = json.loads(known.read_text())
        return found


def guard(home: Path, started: Started) -> int:
    """Start a server under a guardian, whose process id is returned."""
    environment = {**os.environ, **started.environment}
    command = [sys.executable, str(Path(__file__).with_name("guardian.py")), RUN_PID, str(home), *started.command]
    with (home / "output.log").open("ab") as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment, start_new_session=True
        )
    return process.pid


def end_guardian(number: int) -> None:
    """End a guardian that this process has started, with its server, and wait for both. Its files stay."""
    with contextlib.suppress(ProcessLookupError, ChildProcessError):
        os.kill(number, signal.SIGTERM)
        with os.fdopen(os.pidfd_open(number), "rb") as end:
            select.select([end], [], [], 60)
        os.waitpid(number, os.WNOHANG)
