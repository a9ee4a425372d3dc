"""Returns freed memory to the system: glibc keeps what large responses needed, once for each thread."""

from __future__ import annotations

import asyncio
import ctypes

TRIM_SECONDS = 60.0


async def keep_trimmed() -> None:
    """Trim once a minute, until cancelled. It takes milliseconds of CPU."""
    while True:
        await asyncio.sleep(TRIM_SECONDS)
        await asyncio.to_thread(trim)


def trim() -> None:
    """Does nothing with C libraries other than glibc."""
    malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if malloc_trim is not None:
        malloc_trim(0)
