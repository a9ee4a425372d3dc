"""All routes of the server: a room adds its router here, and its operations to the table of access."""

from __future__ import annotations

from fastapi import FastAPI
from fastapi.routing import APIRoute

from gribmill.console.routes import ROUTERS as CONSOLE_ROUTERS
from gribmill.server.access.table import access_of
from gribmill.server.api.routers import QUEUE_ROUTERS
from gribmill.server.data.routers import DATA_ROUTERS
from gribmill.server.docs_page import router as docs_router
from gribmill.server.health import router as health_router
from gribmill.server.login import router as login_router
from gribmill.server.metrics.page import router as metrics_router
from gribmill.server.remote.worker_routes import router as remote_worker_router
from gribmill.server.router import SecuredRouter

ROUTERS: tuple[SecuredRouter, ...] = (
    health_router,
    docs_router,
    login_router,
    *QUEUE_ROUTERS,
    metrics_router,
    *DATA_ROUTERS,
    *CONSOLE_ROUTERS,
    remote_worker_router,
)


def add_routes(app: FastAPI) -> None:
    """Each route is whole as its router made it: with its prefix, and the dependency that checks access."""
    for router in ROUTERS:
        app.router.routes.extend(router.routes)
    _check(app)


def _check(app: FastAPI) -> None:
    """No route gets past the table of access, however it was added."""
    seen: set[str] = set()
    for route in app.routes:
        operation = route.operation_id if isinstance(route, APIRoute) else None
        if operation is None:
            raise LookupError(f"{route} has no operation id: add it with a SecuredRouter")
        access_of(operation)
        if operation in seen:
            raise LookupError(f"two routes have the operation id {operation}")
        seen.add(operation)
