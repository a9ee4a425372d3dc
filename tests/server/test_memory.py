"""Memory that the server has freed goes back to the system."""

from __future__ import annotations

import asyncio
import ctypes
import gc
from pathlib import Path

import pytest

from gribmill.server import memory

MEGABYTE = 1_000_000


def resident() -> int:
    """In bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS"))


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="the C library is not glibc")
def test_freed_memory_is_returned_although_some_of_it_is_still_used() -> None:
    blocks = [bytes(5000) for _ in range(10_000)]
    last = blocks.pop()
    blocks.clear()
    before = resident()
    memory.trim()
    assert resident() < before - 30 * MEGABYTE
    assert len(last) == 5000


def test_memory_is_trimmed_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async def watch() -> None:
        trimmed = asyncio.Semaphore(0)
        loop = asyncio.get_running_loop()
        monkeypatch.setattr(memory, "TRIM_SECONDS", 0)
        monkeypatch.setattr(memory, "trim", lambda: loop.call_soon_threadsafe(trimmed.release))
        task = asyncio.create_task(memory.keep_trimmed())
        for _ in range(2):
            await trimmed.acquire()
        task.cancel()

    asyncio.run(watch())


def test_what_is_loaded_at_start_up_is_not_collected_again() -> None:
    before = gc.get_threshold()
    cycle: list[object] = []
    cycle.append(cycle)
    try:
        memory.collect_seldom()
        assert gc.get_freeze_count() > 1000
        assert not any(one is cycle for one in gc.get_objects())
        assert gc.get_threshold()[0] > before[0]
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)
