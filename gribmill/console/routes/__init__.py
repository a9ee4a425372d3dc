"""The console by HTTP: one file per noun. Forms are plain HTML, and do what the API does."""

from gribmill.console.routes import jobs, overview, static_files

ROUTERS = (static_files.router, overview.router, jobs.router)

__all__ = ["ROUTERS"]
