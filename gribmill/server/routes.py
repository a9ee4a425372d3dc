"""The routes of the server. Add a router here, and its operations to the access table."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import FastAPI
from fastapi.routing import APIRoute

from gribmill.server.access.table import access_of
from gribmill.server.api.routers import QUEUE_ROUTERS
from gribmill.server.data.routers import DATA_ROUTERS
from gribmill.server.docs_page import router as docs_router
from gribmill.server.edr.query_routes import router as edr_query_router
from gribmill.server.edr.routes import router as edr_router
from gribmill.server.extension import Extension
from gribmill.server.health import router as health_router
from gribmill.server.login import router as login_router
from gribmill.server.metrics.page import router as metrics_router
from gribmill.server.openmeteo.routes import router as open_meteo_router
from gribmill.server.remote.worker_routes import router as remote_worker_router
from gribmill.server.router import SecuredRouter

# Routes are matched in order, so the most requested ones come first.
ROUTERS: tuple[SecuredRouter, ...] = (
    health_router,
    *DATA_ROUTERS,
    open_meteo_router,
    edr_router,
    edr_query_router,
    docs_router,
    login_router,
    *QUEUE_ROUTERS,
    metrics_router,
    remote_worker_router,
)


def add_routes(app: FastAPI, extensions: Sequence[Extension]) -> None:
    """Add all routes as created by their routers, with prefix and access check."""
    for router in (*ROUTERS, *(one for extension in extensions for one in extension.routers)):
        app.router.routes.extend(router.routes)
    _check(app)


def _check(app: FastAPI) -> None:
    """Fail if a route is missing from the access table, however it was added."""
    seen: set[str] = set()
    for route in app.routes:
        operation = route.operation_id if isinstance(route, APIRoute) else None
        if operation is None:
            raise LookupError(f"{route} has no operation id: add it with a SecuredRouter")
        access_of(operation)
        if operation in seen:
            raise LookupError(f"two routes have the operation id {operation}")
        seen.add(operation)
