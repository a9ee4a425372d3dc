"""Feeds new events to open streams: one shared database poll, and a queue for each stream."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from gribmill.queue.errors import StoreError
from gribmill.queue.model import PublishedEvent
from gribmill.server.problems import HttpProblem

if TYPE_CHECKING:
    from gribmill.server.context import ServerContext

LOOK_SECONDS = 0.5
# A stream whose client stops reading is closed at this many unsent events; it can resume with Last-Event-ID.
MOST_WAITING = 1000
PAGE = 1000


class Subscription:
    """The unsent events of one stream. `None` in the queue ends the stream."""

    def __init__(self, tenant_id: str | None, pattern: str | None) -> None:
        self._tenant_id = tenant_id
        self._pattern = pattern
        self.waiting: asyncio.Queue[PublishedEvent | None] = asyncio.Queue(MOST_WAITING + 1)

    def offer(self, event: PublishedEvent) -> None:
        if self.waiting.qsize() >= MOST_WAITING:
            self.end()
        elif self.wants(event):
            self.waiting.put_nowait(event)

    def end(self) -> None:
        if not self.waiting.full():
            self.waiting.put_nowait(None)

    def wants(self, event: PublishedEvent) -> bool:
        if self._tenant_id is not None and event.tenant_id != self._tenant_id:
            return False
        return self._pattern is None or fnmatchcase(event.name, self._pattern)


class EventFeed:
    """Polls for new events while any stream is open."""

    def __init__(self, server: ServerContext) -> None:
        self._server = server
        self._streams: set[Subscription] = set()
        self._task: asyncio.Task[None] | None = None
        self._last = 0

    @asynccontextmanager
    async def subscribe(self, tenant_id: str | None, pattern: str | None) -> AsyncIterator[tuple[Subscription, int]]:
        """Subscribe; returns the subscription and the id of the last event before it."""
        if not self._looks:
            newest = await self._server.run(self._server.store.events.newest_id)
            if not self._looks:  # another stream may have started polling during the query
                self._last = newest
                self._task = asyncio.create_task(self._look())
        stream = Subscription(tenant_id, pattern)
        self._streams.add(stream)
        try:
            yield stream, self._last
        finally:
            self._streams.discard(stream)

    @property
    def _looks(self) -> bool:
        return self._task is not None and not self._task.done()

    def close(self) -> None:
        for stream in self._streams:
            stream.end()
        if self._task is not None:
            self._task.cancel()

    async def _look(self) -> None:
        while self._streams and not self._server.closing.is_set():
            try:
                found = await self._server.run(self._server.store.events.after, self._last, limit=PAGE)
            except (StoreError, HttpProblem):  # the database is unavailable or slow: try again later
                found = ()
            for event in found:
                for stream in self._streams:
                    stream.offer(event)
            if found:
                self._last = found[-1].id
            if len(found) < PAGE:
                await asyncio.sleep(LOOK_SECONDS)
