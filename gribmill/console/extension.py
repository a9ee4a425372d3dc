"""The console as `gribmill serve` adds it to the server: its pages, and errors shown as pages."""

from __future__ import annotations

from gribmill.console.error_pages import ErrorPages
from gribmill.console.routes import ROUTERS
from gribmill.server.extension import Extension

CONSOLE = Extension(ROUTERS, (ErrorPages,))
