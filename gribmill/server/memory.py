"""Memory of a server: Python's garbage collection, and returning freed memory to the system."""

from __future__ import annotations

import asyncio
import ctypes
import gc

TRIM_SECONDS = 60.0
# A response for many places makes thousands of objects. With Python's default of 700, collections took a quarter of
# its CPU time.
COLLECT_EVERY_OBJECTS = 10_000


def collect_seldom() -> None:
    """Call once everything is loaded: what is there now is left out of all later collections."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECT_EVERY_OBJECTS)


async def keep_trimmed() -> None:
    """Trim once a minute, until cancelled: glibc keeps what large responses needed, once for each thread."""
    while True:
        await asyncio.sleep(TRIM_SECONDS)
        await asyncio.to_thread(trim)


def trim() -> None:
    """Does nothing with C libraries other than glibc."""
    malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if malloc_trim is not None:
        malloc_trim(0)
