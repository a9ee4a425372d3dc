"""Runs the application under uvicorn until it is stopped by a signal."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable, Sequence
from types import FrameType

import uvicorn
from fastapi import FastAPI

from gribmill.server.app import create_app
from gribmill.server.context import ServerContext
from gribmill.server.extension import Extension
from gribmill.server.http_protocol import LimitedProtocol
from gribmill.server.listening import check_exposure, listen, url_of
from gribmill.server.memory import collect_seldom
from gribmill.settings.schema import ServerSettings, Settings
from gribmill.stop_signals import handle_stop_signals

log = logging.getLogger("gribmill.server")

# Streams end at shutdown; this is the limit for clients that do not read.
GRACE_SECONDS = 2
KEEP_ALIVE_SECONDS = 30
BACKLOG = 1024


class GribmillServer(uvicorn.Server):
    """A uvicorn server that reports its address and ends open streams at shutdown."""

    def __init__(
        self, config: uvicorn.Config, app: FastAPI, ready: Callable[[str], None], *, warms_up: bool = False
    ) -> None:
        super().__init__(config)
        self._app = app
        self._context: ServerContext = app.state.context
        self._ready = ready
        self._warms_up = warms_up
        self._warming: asyncio.Task[None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and sockets:
            self._ready(url_of(sockets[0], tls=self.config.is_ssl))
            if self._warms_up:
                self._warming = asyncio.create_task(self._warm_up())

    async def _warm_up(self) -> None:
        for action in self._app.state.warm_ups:
            try:
                await self._context.start(action, self._app)
            except Exception:  # requests that need the same will report it
                log.warning("warming up failed", exc_info=True)
        collect_seldom()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._context.end_streams()
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop without waiting for open requests on a second signal. Unlike uvicorn, does not raise the signal again at
        the end, so that the exit code is not that of a killed process."""
        self.force_exit = self.should_exit
        self.should_exit = True


def serve(
    settings: Settings, *, extensions: Sequence[Extension], dev: bool = False, ready: Callable[[str], None]
) -> None:
    """Serve until a stop signal. Calls `ready` with the address once the server accepts requests."""
    check_exposure(settings.server, dev=dev)
    listening = listen(settings.server.host, settings.server.port)
    app = create_app(settings, dev=dev, extensions=extensions)
    app.state.context.open()
    server = make_server(app, settings.server, ready, warms_up=True)
    handle_stop_signals(server.handle_exit)  # uvicorn itself does not handle HUP
    server.run([listening])


def make_server(
    app: FastAPI, settings: ServerSettings, ready: Callable[[str], None], *, warms_up: bool = False
) -> GribmillServer:
    """`warms_up`: once it accepts requests, prepare for the first pages and for many responses."""
    # Its warnings about malformed requests would let any client fill the log.
    logging.getLogger("uvicorn").setLevel(logging.ERROR)
    config = uvicorn.Config(
        app,
        http=LimitedProtocol,
        loop="uvloop",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=BACKLOG,
        limit_concurrency=settings.max_connections,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
        ssl_certfile=settings.tls_cert,
        ssl_keyfile=settings.tls_key,
    )
    return GribmillServer(config, app, ready, warms_up=warms_up)
