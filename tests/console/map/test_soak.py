"""A map that plays for a long time does not use more and more memory."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.console.map.forecast_root import HOURS
from tests.console.map.visit import opened
from tests.server.live_server import LiveServer

if TYPE_CHECKING:
    from playwright.sync_api import CDPSession, Page

pytestmark = [pytest.mark.process, pytest.mark.soak]

MINUTES = float(os.environ.get("GRIBMILL_SOAK_MINUTES", "2"))
MOST_GROWTH_BYTES = 8_000_000
MOST_SHARE = 1.15
VARIABLES = ("t2m", "mslp", "tp", "ws10")


def heap_bytes(devtools: CDPSession) -> int:
    """The JavaScript heap after garbage collection."""
    devtools.send("HeapProfiler.collectGarbage")
    values = {one["name"]: one["value"] for one in devtools.send("Performance.getMetrics")["metrics"]}
    return int(values["JSHeapUsedSize"])


def browser_bytes() -> int:
    """Memory of all browser processes started by this test process: heaps, canvases and textures."""
    children: dict[int, list[int]] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            after = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        children.setdefault(int(after[1]), []).append(int(status.parent.name))
    found, waiting = 0, [os.getpid()]
    while waiting:
        for child in children.get(waiting.pop(), []):
            waiting.append(child)
            try:
                rows = Path(f"/proc/{child}/smaps_rollup").read_text().splitlines()
            except OSError:
                continue
            found += sum(1024 * int(row.split()[1]) for row in rows if row.startswith("Pss:"))
    return found


def play(page: Page, seconds: float) -> int:
    """Play, changing the selection now and then; returns the number of changes."""
    until = time.monotonic() + seconds
    changes = 0
    while time.monotonic() < until:
        page.locator("select[name=variable]").select_option(VARIABLES[changes % len(VARIABLES)])
        page.locator("select[name=plane]").select_option("web" if changes % 3 else "native")
        page.locator("select[name=wind]").select_option(("particles", "barbs", "none")[changes % 3])
        page.wait_for_timeout(1000 * 0.5 * (len(HOURS) + 1))
        changes += 1
    return changes


def test_a_map_that_plays_does_not_grow(page: Page, map_server: LiveServer) -> None:
    opened(page, map_server, "model=gfs&region=world&variable=t2m&isobars=1&compare=side&other=hrrr")
    page.get_by_role("button", name="Play").click()
    devtools = page.context.new_cdp_session(page)
    devtools.send("Performance.enable")
    assert play(page, 60 * MINUTES / 3) > len(VARIABLES), "what is kept is kept by now"
    before, all_before = heap_bytes(devtools), browser_bytes()
    play(page, 60 * MINUTES * 2 / 3)
    assert heap_bytes(devtools) - before < MOST_GROWTH_BYTES
    assert browser_bytes() < MOST_SHARE * all_before
    nodes = devtools.send("Memory.getDOMCounters")
    assert nodes["nodes"] < 20_000, nodes
