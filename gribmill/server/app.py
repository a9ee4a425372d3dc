"""The ASGI application: routes, errors, limits and headers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from fastapi import FastAPI

from gribmill.queue.model import DEFAULT_TENANT
from gribmill.server.context import ServerContext
from gribmill.server.extension import Extension
from gribmill.server.memory import keep_trimmed
from gribmill.server.metrics.collector import MetricsCollector
from gribmill.server.metrics.families import MetricFamilies
from gribmill.server.metrics.http_timing import HttpTiming
from gribmill.server.middleware.body_limit import BodyLimit
from gribmill.server.middleware.compression import ResponseCompression
from gribmill.server.middleware.host_check import HostCheck
from gribmill.server.middleware.security_headers import SecurityHeaders
from gribmill.server.problems import add_problem_handlers
from gribmill.server.routes import add_routes
from gribmill.settings.schema import Settings
from gribmill.version import __version__

DESCRIPTION = "Jobs, forecasts and operations of gribmill. Errors are RFC 9457 problem documents."


def create_app(settings: Settings, *, dev: bool = False, extensions: Sequence[Extension] = ()) -> FastAPI:
    """Create the ASGI application. It opens the store at start-up and closes it at shutdown."""
    context = ServerContext(settings, dev=dev)
    families = MetricFamilies()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await context.start(lambda: context.store)
        # Check for the tenants' database role now, so that its absence is logged at start-up and not on first use.
        await context.start(context.store.database.for_tenant, DEFAULT_TENANT)
        app.state.metrics = await context.start(MetricsCollector, context.store, context.weather, families)
        trimming = asyncio.create_task(keep_trimmed())
        yield
        trimming.cancel()
        context.end_streams()
        context.close()

    app = FastAPI(
        title="gribmill",
        version=__version__,
        description=DESCRIPTION,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        redirect_slashes=False,
    )
    app.state.context = context
    app.state.warm_ups = [one.warm_up for one in extensions if one.warm_up is not None]
    add_problem_handlers(app)
    add_routes(app, extensions)
    # The middleware added last sees a request first.
    app.add_middleware(BodyLimit, most_bytes=round(settings.server.max_body_megabytes * 1_000_000))
    app.add_middleware(HostCheck, settings=settings.server)
    for middleware in (one for extension in extensions for one in extension.middleware):
        app.add_middleware(middleware)
    app.add_middleware(ResponseCompression)
    app.add_middleware(SecurityHeaders)
    app.add_middleware(HttpTiming, histogram=families.http)
    return app
