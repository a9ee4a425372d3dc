"""Stop signals as a file descriptor to wait on: the first signal drains, the second stops."""

from __future__ import annotations

import contextlib
import signal
import socket
from types import FrameType
from typing import Any

from gribmill.stop_signals import handle_stop_signals


class StopSignals:
    """Counts stop signals; its file descriptor becomes readable when one comes."""

    def __init__(self) -> None:
        self.count = 0
        self._read, self._write = socket.socketpair()
        self._read.setblocking(False)
        self._write.setblocking(False)
        self._before: dict[signal.Signals, Any] = {}

    def install(self) -> None:
        """Install the handlers. Only the main thread can; elsewhere (in tests) there are no signals."""
        with contextlib.suppress(ValueError):
            self._before = handle_stop_signals(self._note)

    def restore(self) -> None:
        for signum, handler in self._before.items():
            signal.signal(signum, handler)
        self._read.close()
        self._write.close()

    def fileno(self) -> int:
        return self._read.fileno()

    def drain(self) -> None:
        with contextlib.suppress(BlockingIOError):
            self._read.recv(64)

    def _note(self, signum: int, frame: FrameType | None) -> None:
        self.count += 1
        with contextlib.suppress(OSError):
            self._write.send(b"!")
