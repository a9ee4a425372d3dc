"""A status line at the bottom of the terminal, below the lines of the log."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from gribmill.errors import GribmillError, printable

ERASE = "\r\x1b[2K"
LOOK_EVERY_SECONDS = 1.0


@contextmanager
def live_line(text: Callable[[], str]) -> Iterator[None]:
    """Show a status line on stderr while the block runs, refreshed every second in a thread. Does nothing in a pipe."""
    stream = sys.stderr
    if stream is None or not stream.isatty():
        yield
        return
    line = LiveLine(stream)
    handlers = [one for one in logging.getLogger("gribmill").handlers if isinstance(one, logging.StreamHandler)]
    over = threading.Event()
    thread = threading.Thread(target=_refresh, args=(line, text, over), name="live-line", daemon=True)
    sys.stderr = line
    for handler in handlers:
        handler.setStream(line)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        line.show("")
        sys.stderr = stream
        for handler in handlers:
            handler.setStream(stream)


def _refresh(line: LiveLine, text: Callable[[], str], over: threading.Event) -> None:
    while not over.wait(LOOK_EVERY_SECONDS):
        with contextlib.suppress(GribmillError):  # the error is in the log
            line.show(text())


class LiveLine:
    """Replaces stderr: text that is written appears above the status line, which is then redrawn."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = threading.RLock()
        self._text = ""
        self._at_start = True
        """Whether the last written text ended with a newline."""
        self.buffer = _Bytes(self)

    def show(self, text: str) -> None:
        """Replace the status line; an empty text removes it."""
        text = printable(text.replace("\n", " "))
        with self._lock:
            if text != self._text:
                self._erase()
                self._text = text
                self._draw()

    def write(self, text: str) -> int:
        with self._lock:
            self._erase()
            self._stream.write(text)
            if text:
                self._at_start = text.endswith("\n")
            self._draw()
        return len(text)

    def flush(self) -> None:
        self._stream.flush()

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._stream.fileno()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _erase(self) -> None:
        if self._text and self._at_start:
            self._stream.write(ERASE)

    def _draw(self) -> None:
        if self._text and self._at_start:
            width = self._width() - 1
            self._stream.write(self._text if len(self._text) <= width else f"{self._text[: width - 1]}…")
        self._stream.flush()

    def _width(self) -> int:
        try:
            return max(20, os.get_terminal_size(self._stream.fileno()).columns)
        except OSError:
            return 80


class _Bytes:
    """The binary buffer of a LiveLine: workers forward their executors' output to it."""

    def __init__(self, line: LiveLine) -> None:
        self._line = line

    def write(self, data: bytes) -> int:
        self._line.write(data.decode(errors="replace"))
        return len(data)

    def flush(self) -> None:
        self._line.flush()
