"""Many open event streams: the server's CPU while events arrive."""

from __future__ import annotations

import asyncio
import json
import time
import urllib.request
from dataclasses import dataclass
from urllib.parse import urlsplit

from benchmarks.server.contender import Contender

STREAMS = 500
GOAL_SHARE = 0.05
REQUEST = "GET /api/v1/events/stream?name=bench.* HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


@dataclass(frozen=True)
class StreamCosts:
    """Shares of a core with the streams open: idle, and while all of them get an event per second."""

    idle: float
    busy: float
    events: int
    received: int


def stream_costs(server: Contender, seconds: float) -> StreamCosts:
    """Open the streams, measure for this long while idle, then for as long while events are emitted."""
    return asyncio.run(_watch(server, seconds))


async def _watch(server: Contender, seconds: float) -> StreamCosts:
    where = urlsplit(server.url)
    received = 0

    async def listen(ready: asyncio.Event) -> None:
        nonlocal received
        reader, writer = await asyncio.open_connection(where.hostname, where.port)
        writer.write(REQUEST.encode())
        try:
            while line := await reader.readline():
                if line.startswith(b"retry:"):
                    ready.set()
                received += line.startswith(b"event:")
        finally:
            writer.close()

    opened = [asyncio.Event() for _ in range(STREAMS)]
    readers = [asyncio.create_task(listen(one)) for one in opened]
    await asyncio.gather(*(one.wait() for one in opened))
    idle = await _share(server, seconds)
    events = round(seconds)
    emitting = asyncio.create_task(_emit(server, events))
    busy = await _share(server, seconds)
    await emitting
    await asyncio.sleep(2)
    for one in readers:
        one.cancel()
    await asyncio.gather(*readers, return_exceptions=True)
    return StreamCosts(idle, busy, events, received)


async def _share(server: Contender, seconds: float) -> float:
    before, start = server.cpu_seconds, time.monotonic()
    await asyncio.sleep(seconds)
    return (server.cpu_seconds - before) / (time.monotonic() - start)


async def _emit(server: Contender, count: int) -> None:
    for number in range(count):
        body = json.dumps({"name": "bench.tick", "payload": {"number": number}}).encode()
        await asyncio.to_thread(_post, f"{server.url}/api/v1/events", body)
        await asyncio.sleep(1)


def _post(url: str, body: bytes) -> None:
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        answer.read()
