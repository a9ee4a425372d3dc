"""Puts load on a server: with wrk if installed, otherwise with threads of this process."""

from __future__ import annotations

import http.client
import math
import random
import re
import shutil
import statistics
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

CONNECTIONS = 8
_LATENCY = re.compile(r"^\s+(50|99)%\s+([\d.]+)(us|ms|s)\s*$", re.MULTILINE)
_RATE = re.compile(r"Requests/sec:\s+([\d.]+)")
_COUNT = re.compile(r"(\d+) requests in")
_BAD = re.compile(r"Non-2xx or 3xx responses: (\d+)")
MILLISECONDS = {"us": 0.001, "ms": 1.0, "s": 1000.0}
# Picks one of the paths for each request.
SCRIPT = """\
local paths = {{{paths}}}
math.randomseed(7)
request = function() return wrk.format("GET", paths[math.random(#paths)]) end
"""


@dataclass(frozen=True)
class Load:
    """The responses of a round."""

    requests: int
    per_second: float
    p50_ms: float
    p99_ms: float
    failed: int


def generator() -> str:
    """The load generator."""
    return "wrk" if shutil.which("wrk") else "threads of Python"


def put_load(url: str, paths: list[str], seconds: float, connections: int = CONNECTIONS) -> Load:
    """Requests these paths in random order, as fast as the server responds."""
    return (_by_wrk if shutil.which("wrk") else _by_threads)(url, paths, seconds, connections)


def _by_wrk(url: str, paths: list[str], seconds: float, connections: int) -> Load:
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "paths.lua"
        script.write_text(SCRIPT.format(paths=", ".join(f'"{path}"' for path in paths)))
        words = [
            "wrk",
            "-t1",
            f"-c{connections}",
            f"-d{seconds:g}s",
            "--timeout",
            "60s",
            "--latency",
            "-s",
            str(script),
            url,
        ]
        text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    latency = {part: float(number) * MILLISECONDS[unit] for part, number, unit in _LATENCY.findall(text)}
    bad, count, rate = _BAD.search(text), _COUNT.search(text), _RATE.search(text)
    assert count is not None and rate is not None, text
    return Load(
        int(count[1]),
        float(rate[1]),
        latency.get("50", math.nan),
        latency.get("99", math.nan),
        int(bad[1]) if bad else 0,
    )


def _by_threads(url: str, paths: list[str], seconds: float, connections: int) -> Load:
    host, port = urlsplit(url).hostname or "", urlsplit(url).port
    end = time.monotonic() + seconds
    spent: list[float] = []
    failed = [0]

    def ask(seed: int) -> None:
        choose, connection = random.Random(seed), http.client.HTTPConnection(host, port)
        while time.monotonic() < end:
            start = time.monotonic()
            connection.request("GET", choose.choice(paths))
            answer = connection.getresponse()
            answer.read()
            spent.append(time.monotonic() - start)
            failed[0] += answer.status >= 400
        connection.close()

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ranks = statistics.quantiles(spent, n=100)
    return Load(len(spent), len(spent) / seconds, 1000 * ranks[49], 1000 * ranks[98], failed[0])
