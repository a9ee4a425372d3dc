"""Request durations by route. The URL itself is not a label, because clients could create any number of series."""

from __future__ import annotations

import time

from prometheus_client import Histogram
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# The methods of our routes; all others share one label.
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
NO_ROUTE = "none"


class HttpTiming:
    """Measures the time to the first byte, because the client determines how long downloads and event streams last."""

    def __init__(self, app: ASGIApp, histogram: Histogram) -> None:
        self._app = app
        self._histogram = histogram

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()

        async def timed(message: Message) -> None:
            if message["type"] == "http.response.start":
                route = getattr(scope.get("route"), "path", NO_ROUTE)
                method = scope["method"] if scope["method"] in METHODS else "other"
                taken = time.perf_counter() - began
                self._histogram.labels(method, route, str(message["status"])).observe(taken)
            await send(message)

        await self._app(scope, receive, timed)
