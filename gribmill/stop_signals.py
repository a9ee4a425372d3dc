"""The signals that ask a long-running command to stop: TERM, INT (Ctrl-C) and HUP (its terminal was closed)."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable
from types import FrameType
from typing import Any

Handler = Callable[[int, FrameType | None], Any]


def handle_stop_signals(handler: Handler) -> dict[signal.Signals, Any]:
    """Call `handler` on every TERM and INT and on the first HUP, because a terminal that closes sends several. Returns
    the handlers before.

    HUP stays ignored if it is, as under nohup. Raises ValueError outside the main thread.
    """

    def hang_up(signum: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        _leave_closed_terminal()
        handler(signum, frame)

    before = {signum: signal.signal(signum, handler) for signum in (signal.SIGTERM, signal.SIGINT)}
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        before[signal.SIGHUP] = signal.signal(signal.SIGHUP, hang_up)
    return before


def _leave_closed_terminal() -> None:
    """Discard what is written to a terminal that is gone; it would be an error. HUP may also come from `kill`."""
    output = select.poll()
    for fd in (1, 2):
        output.register(fd, 0)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for fd, event in output.poll(0):
        if event & select.POLLHUP:
            os.dup2(nowhere, fd)
    os.close(nowhere)
