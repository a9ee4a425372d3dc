"""Models, runs, tiles and forecasts over HTTP."""

__all__ = ["routers"]
