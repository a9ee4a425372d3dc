"""A server in a separate process, whose CPU time is read from the system."""

from __future__ import annotations

import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PATIENCE_SECONDS = 90.0
TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Contender:
    """Its address and its process."""

    title: str
    url: str
    pid: int

    @property
    def cpu_seconds(self) -> float:
        """User and system time so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    @property
    def memory_mb(self) -> float:
        """Resident memory now."""
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


@contextmanager
def running(
    title: str, words: Sequence[str | Path], port: int, environment: dict[str, str], ready: str
) -> Iterator[Contender]:
    """The server, once it responds at the path `ready`."""
    process = subprocess.Popen([*map(str, words)], env=environment, stdout=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        _wait(process, url + ready)
        yield Contender(title, url, process.pid)
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait(process: subprocess.Popen[bytes], url: str) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            raise SystemExit(f"the server for {url} ended with exit code {process.returncode}")
        try:
            with urllib.request.urlopen(url, timeout=30):
                return
        except urllib.error.HTTPError as error:
            raise SystemExit(f"{url}: {error}") from None
        except OSError:
            time.sleep(0.2)
    raise SystemExit(f"{url} does not answer")
