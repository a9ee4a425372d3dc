"""Commands in a real pseudo-terminal: what a person would see on a screen of a given size."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

COLUMNS, ROWS = 80, 24
PATIENCE_SECONDS = 120.0
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_ERASED = re.compile(r"[^\n]*\r\x1b\[2K")


@dataclass(frozen=True)
class Screen:
    """What a command wrote, with stdout and stderr together, and its exit code."""

    raw: str
    code: int

    @property
    def text(self) -> str:
        """The final text: without colours and replaced lines."""
        return _ERASED.sub("", _COLOURS.sub("", self.raw).replace("\r\n", "\n"))

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    @property
    def widest(self) -> int:
        return max(map(len, self.lines), default=0)


def run_in_terminal(
    *words: str,
    cwd: Path,
    environment: dict[str, str] | None = None,
    columns: int = COLUMNS,
    rows: int = ROWS,
    stop_at: Callable[[str], bool] | None = None,
) -> Screen:
    """Run `gribmill WORDS…` in a terminal to its end; Ctrl-C is pressed once the output so far satisfies `stop_at`."""
    here, there = pty.openpty()
    fcntl.ioctl(there, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    surroundings = {name: value for name, value in os.environ.items() if not name.startswith("GRIBMILL_")}
    for name in ("COLUMNS", "LINES", "NO_COLOR", "PYTEST_CURRENT_TEST"):
        surroundings.pop(name, None)
    process = subprocess.Popen(
        [sys.executable, "-m", "gribmill.cli.main", *words],
        stdin=there, stdout=there, stderr=there, cwd=cwd, start_new_session=True,
        env={**surroundings, "TERM": "xterm", "PYTHONPATH": str(Path(__file__).parents[1]), **(environment or {})},
    )  # fmt: skip
    os.close(there)
    try:
        raw = _read(here, process, stop_at)
    finally:
        if process.poll() is None:
            process.kill()
        os.close(here)
    return Screen(raw, process.wait())


def _read(here: int, process: subprocess.Popen[bytes], stop_at: Callable[[str], bool] | None) -> str:
    deadline = time.monotonic() + PATIENCE_SECONDS
    data = b""
    while time.monotonic() < deadline:
        if select.select([here], [], [], 0.1)[0]:
            try:
                more = os.read(here, 65536)
            except OSError:  # the last process that had the terminal open has ended
                break
            data += more
            if stop_at is not None and stop_at(data.decode(errors="replace")):
                process.send_signal(2)
                stop_at = None
        elif process.poll() is not None:
            break
    else:
        raise AssertionError(f"the command did not end: {data.decode(errors='replace')}")
    process.wait(PATIENCE_SECONDS)
    return data.decode(errors="replace")
