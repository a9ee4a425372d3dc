"""The routes of the console, one file per noun. Forms are plain HTML and do the same as the API."""

from gribmill.console.routes import (
    bulk,
    definitions,
    events,
    groups,
    jobs,
    map,
    operations,
    overview,
    runs,
    static_files,
    tenants,
    triggers,
)
from gribmill.server.router import SecuredRouter

ROUTERS: tuple[SecuredRouter, ...] = tuple(
    one.router
    for one in (
        static_files,
        overview,
        bulk,
        jobs,
        runs,
        map,
        groups,
        triggers,
        definitions,
        events,
        operations,
        tenants,
    )
)

__all__ = ["ROUTERS", "overview", "visit"]
