"""The console by HTTP: one file per noun. Forms are plain HTML, and do what the API does."""

from gribmill.console.routes import jobs, map, overview, runs, static_files

ROUTERS = (static_files.router, overview.router, jobs.router, runs.router, map.router)

__all__ = ["ROUTERS", "page"]
