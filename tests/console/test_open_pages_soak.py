"""Pages that stay open for a long time while jobs come and go do not use more and more memory."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from gribmill.queue.model import ClaimRequest, Failed, NewJob, Report, Succeeded
from gribmill.queue.store import Store
from tests.console.lively_root import WORKER
from tests.console.lively_server import LivelyServer, start_lively

if TYPE_CHECKING:
    from playwright.sync_api import Browser, CDPSession

pytestmark = [pytest.mark.process, pytest.mark.soak]

MINUTES = float(os.environ.get("GRIBMILL_SOAK_MINUTES", "10"))
PATHS = ("/", "/jobs", "/runs")
PAUSE_MILLISECONDS = 2000
# Allowed growth of heap and nodes after the first tenth of the time, when all code is loaded and compiled.
MOST_GROWTH = 1.25


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LivelyServer]:
    with ExitStack() as resources:
        yield start_lively("sqlite", tmp_path_factory, resources)


def measured(session: CDPSession) -> tuple[float, int]:
    """The heap in megabytes after garbage collection, and the number of DOM nodes."""
    session.send("HeapProfiler.collectGarbage")
    found: dict[str, Any] = session.send("Performance.getMetrics")
    values = {one["name"]: one["value"] for one in found["metrics"]}
    return values["JSHeapUsedSize"] / 1e6, int(values["Nodes"])


def run_job(store: Store, number: int) -> None:
    """Run a job; every tenth fails, which publishes an event."""
    store.jobs.enqueue(NewJob("sleep", {"say": f"number {number}"}, priority=99))
    for job in store.claim(ClaimRequest(WORKER, ("sleep",), 600.0)):
        outcome = Failed("HTTP 503", permanent=True) if number % 10 == 0 else Succeeded()
        store.exchange(WORKER, [Report(job.ref, outcome, 0, "", "")])


def test_pages_that_stay_open_do_not_grow(server: LivelyServer, chromium: Browser) -> None:
    sessions = []
    for path in PATHS:
        page = chromium.new_page()
        page.goto(f"{server.url}{path}")
        sessions.append(page.context.new_cdp_session(page))
        sessions[-1].send("Performance.enable")
    begin, number, samples = time.monotonic(), 0, []
    for minute in range(1, max(10, round(MINUTES)) + 1):
        while time.monotonic() < begin + 60 * MINUTES * minute / max(10, round(MINUTES)):
            number += 1
            run_job(server.live.store, number)
            page.wait_for_timeout(PAUSE_MILLISECONDS)
        samples.append([measured(session) for session in sessions])
        shown = ", ".join(
            f"{path} {heap:.2f} MB {nodes}" for path, (heap, nodes) in zip(PATHS, samples[-1], strict=True)
        )
        sys.stderr.write(f"{minute}: {number} jobs; {shown}\n")
    first, last = samples[len(samples) // 10], samples[-1]
    for (heap, nodes), (later_heap, later_nodes) in zip(first, last, strict=True):
        assert later_heap < MOST_GROWTH * heap and later_nodes < MOST_GROWTH * nodes
