"""What every request needs: settings, the store, the data root, and threads for blocking work."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from typing import Annotated, ParamSpec, TypeVar

from fastapi import Depends
from starlette.requests import HTTPConnection

from gribmill.access.audit import AuditTrail
from gribmill.access.idempotency import IdempotencyKeys
from gribmill.access.sessions import Sessions
from gribmill.access.tokens import Tokens
from gribmill.catalogue.reads import Catalogue
from gribmill.pipeline.context import Context
from gribmill.pipeline.models import configured_models
from gribmill.pipeline.open_queue import open_queue
from gribmill.queue.store import Store
from gribmill.regions.region import load_regions
from gribmill.server.problems import HttpProblem
from gribmill.server.state.buckets import Buckets
from gribmill.server.state.bulk import BulkOperations
from gribmill.server.state.event_feed import EventFeed
from gribmill.server.state.verified_tokens import VerifiedTokens
from gribmill.settings.schema import Settings
from gribmill.storage.layout import DataRoot
from gribmill.tiles.read.point.kept_tiles import KeptTiles

P = ParamSpec("P")
T = TypeVar("T")


# Invalid tokens from one address: a burst of this many, then one every three seconds.
FAILURES_AT_ONCE = 20.0
FAILURES_PER_SECOND = 1 / 3


class ServerContext:
    """One per server. Handlers are `async def` and do blocking work with `await server.run(…)`."""

    def __init__(self, settings: Settings, *, dev: bool = False) -> None:
        self.settings = settings
        self.dev = dev
        self.closing = asyncio.Event()
        """Set when the server shuts down; open streams must end."""
        self.computing = asyncio.Lock()
        """Held by the one large computation that is running."""
        # Long-lived threads, each with its own database connection.
        threads = settings.server.threads
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="gribmill-server")
        self._slow_threads = ThreadPoolExecutor(max(1, threads // 2), thread_name_prefix="gribmill-server-slow")

        self.feed = EventFeed(self)
        self.bulk = BulkOperations()
        self.verified = VerifiedTokens()
        self.failures = Buckets(FAILURES_PER_SECOND, FAILURES_AT_ONCE)
        per_second = settings.server.requests_per_minute / 60
        self.requests = Buckets(per_second, max(1.0, 10 * per_second))

    @cached_property
    def store(self) -> Store:
        return open_queue(self.settings)

    @cached_property
    def tokens(self) -> Tokens:
        return Tokens(self.store.database)

    @cached_property
    def sessions(self) -> Sessions:
        return Sessions(self.store.database)

    @cached_property
    def audit(self) -> AuditTrail:
        return AuditTrail(self.store.database)

    @cached_property
    def idempotency(self) -> IdempotencyKeys:
        return IdempotencyKeys(self.store.database)

    @cached_property
    def weather(self) -> Context:
        """Models, regions and the catalogue, on the same database."""
        models, regions = configured_models(self.settings), load_regions(self.settings.regions)
        return Context(self.settings, models, regions, Catalogue(self.store.database))

    @property
    def root(self) -> DataRoot:
        return self.weather.root

    @cached_property
    def tiles(self) -> KeptTiles:
        """The cached tiles."""
        return KeptTiles(self.root, round(self.settings.server.tile_memory_megabytes * 2**20))

    def open(self) -> None:
        """Open what every request needs before uvicorn starts, because uvicorn would print errors as tracebacks."""
        self._threads.submit(lambda: self.weather).result()

    async def start(self, action: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Like `run`, but without a timeout: on a busy machine, start-up may take longer than any request should."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, partial(action, *args, **kwargs))

    async def run(self, action: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a blocking action in a thread and return its result; raises a problem 503 if it takes too long."""
        return await self._in_time(self._in_thread(partial(action, *args, **kwargs)))

    async def run_slow(self, action: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Like `run`, for an action that may take a second or more, in threads that `run` does not use."""
        return await self._in_time(self._in_thread(partial(action, *args, **kwargs), self._slow_threads))

    async def compute(self, action: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Like `run`, for an action that reads nothing: one at a time.

        Threads that compute only take turns, and NumPy ends a turn with every operation.
        """
        return await self._in_time(self._alone(partial(action, *args, **kwargs)))

    async def _alone(self, action: Callable[[], T]) -> T:
        async with self.computing:
            return await self._in_thread(action)

    def _in_thread(self, action: Callable[[], T], threads: ThreadPoolExecutor | None = None) -> asyncio.Future[T]:
        return asyncio.get_running_loop().run_in_executor(threads or self._threads, action)

    async def _in_time(self, result: Awaitable[T]) -> T:
        seconds = self.settings.server.request_seconds
        try:
            return await asyncio.wait_for(result, seconds)
        except TimeoutError:
            raise HttpProblem(503, f"this took longer than {seconds:g} s; request less, or try again later") from None

    def end_streams(self) -> None:
        self.closing.set()
        self.feed.close()

    def close(self) -> None:
        self.bulk.close()
        for threads in (self._threads, self._slow_threads):
            threads.shutdown(wait=True, cancel_futures=True)
        self.store.close()


def server_context(connection: HTTPConnection) -> ServerContext:
    context = connection.app.state.context
    assert isinstance(context, ServerContext)
    return context


async def _of_request(connection: HTTPConnection) -> ServerContext:
    """Async because FastAPI runs plain functions in a thread, which costs more than the rest of a small request."""
    return server_context(connection)


Server = Annotated[ServerContext, Depends(_of_request)]
