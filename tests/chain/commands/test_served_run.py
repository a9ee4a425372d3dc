"""`gribmill run --serve`: one process tree with scans, workers and the server."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.chain.chain_driver import ChainDriver
from tests.chain.conftest import NewChain
from tests.waiting import wait_until

pytestmark = pytest.mark.process


def start(chain: ChainDriver) -> tuple[subprocess.Popen[bytes], str]:
    """Start the process; returns it and the address that it printed."""
    process = chain.start("run", "--serve", "--port", "0")
    said = wait_until(lambda: re.search(r"listening on (\S+)", log_of(chain)), what="the address")
    return process, said[1]


def log_of(chain: ChainDriver) -> str:
    return (chain.root / "process-0.log").read_text(errors="replace")


def answer(url: str) -> Any:
    with contextlib.suppress(httpx.HTTPError):
        return httpx.get(url, timeout=60).json()


def server_pid(parent: int) -> int:
    """The child process that serves."""
    threads = Path(f"/proc/{parent}/task").glob("*/children")
    pids = [pid for thread in threads for pid in thread.read_text().split()]
    (found,) = [
        int(pid) for pid in pids if b"gribmill.cli.chain.server_main" in Path(f"/proc/{pid}/cmdline").read_bytes()
    ]
    return found


def test_tiles_are_built_and_served_until_term(new_chain: NewChain) -> None:
    chain = new_chain()
    chain.publish("hrrr")
    process, url = start(chain)
    chain.wait_complete("hrrr")
    runs = wait_until(lambda: answer(f"{url}/api/v1/runs?model=hrrr"))
    assert chain.run_id in str(runs)
    (worker,) = answer(f"{url}/api/v1/workers")
    assert worker["state"] == "active"
    process.terminate()
    assert process.wait(60) == 0
    with pytest.raises(httpx.ConnectError):
        httpx.get(url)


def test_a_server_that_crashed_is_started_again_at_the_same_address(new_chain: NewChain) -> None:
    chain = new_chain()
    process, url = start(chain)
    assert answer(f"{url}/healthz")["status"] == "ok"
    first = server_pid(process.pid)
    os.kill(first, signal.SIGKILL)
    assert wait_until(lambda: answer(f"{url}/healthz"))["status"] == "ok"
    assert server_pid(process.pid) != first
    process.kill()
    process.wait()
    wait_until(lambda: answer(f"{url}/healthz") is None, what="the server to end with the process that started it")


def test_an_address_that_cannot_be_used_is_refused_before_anything_starts(new_chain: NewChain) -> None:
    chain = new_chain()
    taken = chain.finish("run", "--serve", "--port", str(chain.port))
    assert (taken.returncode, taken.stderr.count("cannot listen")) == (1, 1)
    chain.changes = {"server": {"host": "0.0.0.0"}}
    exposed = chain.finish("run", "--serve")
    assert exposed.returncode == 1
    assert "--tls-cert" in exposed.stderr
