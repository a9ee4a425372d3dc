"""The server of `gribmill run --serve`: a process beside the workers, restarted if it crashes."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import logging
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gribmill.cli.serve import missing_extra
from gribmill.server.listening import check_exposure, listen
from gribmill.settings.schema import Settings

log = logging.getLogger("gribmill.serve")

MODULE = "gribmill.cli.chain.server_main"
NEEDED = ("fastapi", "uvicorn", "httptools", "uvloop")
# The delay before the first restart; it doubles with each further restart.
PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 60.0
END_SECONDS = 30.0


@contextmanager
def server_beside(settings: Settings, ready: Callable[[str], None]) -> Iterator[None]:
    """Serve while the block runs. Raises an error before the block if the address cannot be used."""
    if missing := next((name for name in NEEDED if importlib.util.find_spec(name) is None), None):
        raise missing_extra(missing)
    check_exposure(settings.server, dev=False)
    with listen(settings.server.host, settings.server.port) as listening:
        server = ServerProcess(settings, listening, ready)
        server.start()
        try:
            yield
        finally:
            server.stop()


class ServerProcess:
    """Keeps one server process running on a socket. The socket stays open during a restart: clients only wait."""

    def __init__(self, settings: Settings, listening: socket.socket, ready: Callable[[str], None]) -> None:
        self._message = json.dumps({"settings": settings.model_dump(mode="json"), "dev": False}) + "\n"
        self._listening = listening
        self._ready: Callable[[str], None] | None = ready
        self._over = threading.Event()
        self._process: subprocess.Popen[str] | None = None
        self._thread = threading.Thread(target=self._keep, name="gribmill-serve", daemon=True)

    def start(self) -> None:
        self._process = self._spawn()
        self._thread.start()

    def stop(self) -> None:
        """Let the server finish its requests, and wait until it exits."""
        self._over.set()
        process = self._process
        if process is not None:
            process.terminate()
            try:
                process.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
        self._thread.join(END_SECONDS)

    def _spawn(self) -> subprocess.Popen[str]:
        fd = self._listening.fileno()
        process = subprocess.Popen(
            # In a new session, so that Ctrl-C reaches only `gribmill run`, which stops the server last.
            [sys.executable, "-P", "-m", MODULE, str(fd)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=(fd,),
            start_new_session=True,
            text=True,
        )
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it has already exited, which `_keep` notices
            process.stdin.write(self._message)
            process.stdin.flush()
        return process

    def _keep(self) -> None:
        """Report the URL, and restart the server if it crashes, but not if it was asked to stop. Runs in a thread."""
        pause = PAUSE_SECONDS
        while True:
            assert self._process is not None and self._process.stdout is not None
            if url := self._process.stdout.readline().strip():
                pause = PAUSE_SECONDS
                if self._ready is not None:
                    self._ready(url)
                    self._ready = None
            code = self._process.wait()
            if self._over.is_set() or code == 0:
                return
            log.error("the server ended with code %d; it is started again in %g s", code, pause)
            if self._over.wait(pause):
                return
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
            self._process = self._spawn()
            if self._over.is_set():  # `stop` may have terminated the previous process only
                self._process.terminate()
