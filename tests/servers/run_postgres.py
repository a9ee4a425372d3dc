"""Runs the test run's PostgreSQL server until the test run ends, then removes it: `run_postgres HOME PID NOTE`.

A separate process: the server is started by the first test that needs it, and must end with the test run, even
if that is killed.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import sys
from pathlib import Path

from tests.servers.postgres import PostgresServer

STOP_SECONDS = 20


def main(home: Path, run_pid: int, note: Path) -> None:
    run = os.pidfd_open(run_pid)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # from the terminal; the test run decides
    try:
        try:
            server = PostgresServer(home)
            server.create()
            child = server.run_in_foreground()
        except Exception as error:  # noqa: BLE001 — the tests report it, and do not try again
            (home / "failed").write_text(str(error))
            select.select([run], [], [])
            return
        (home / "started").write_text(str(child.pid))
        ended = os.pidfd_open(child.pid)
        select.select([run, ended], [], [])
        child.send_signal(signal.SIGQUIT)
        child.wait(STOP_SECONDS)
        if not select.select([run], [], [], 0)[0]:
            (home / "failed").write_text(
                f"the server ended unexpectedly: {server.log.read_text(errors='replace')[-2000:]}"
            )
            select.select([run], [], [])
    finally:
        note.unlink(missing_ok=True)
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
