"""Runs one server until the test run is over: `guardian.py RUN HOME COMMAND...`, where RUN is a process id.

Then its files are removed too, and those that GUARDIAN_REMOVES names. A separate program, without imports of the
project: it starts at once and outlives pytest's processes.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import FrameType

LOOK_AGAIN_SECONDS = 0.5
PATIENCE_SECONDS = 10.0


def main(run: str, home: str, command: list[str]) -> None:
    server = subprocess.Popen(command, cwd=home)

    def end(number: int, frame: FrameType | None) -> None:
        raise SystemExit(0)

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        while server.poll() is None and Path("/proc", run).exists():
            with contextlib.suppress(subprocess.TimeoutExpired):
                server.wait(LOOK_AGAIN_SECONDS)
    finally:
        server.terminate()
        try:
            server.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
        for path in filter(None, os.environ.get("GUARDIAN_REMOVES", "").split(":")):
            Path(path).unlink(missing_ok=True)
        if not Path("/proc", run).exists():
            shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
