"""Models, runs, tiles and forecasts over HTTP."""

__all__ = ["point_answer", "routers", "run_headers", "runs"]
