"""The console as `gribmill serve` adds it to the server: its pages, and errors shown as pages."""

from __future__ import annotations

from gribmill.console.error_pages import ErrorPages
from gribmill.console.routes import ROUTERS
from gribmill.console.routes.overview import warm_up
from gribmill.server.extension import Extension

CONSOLE = Extension(ROUTERS, (ErrorPages,), warm_up)
