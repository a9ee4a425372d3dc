"""`/metrics` for Prometheus, computed from the database, so that it covers the workers of all hosts."""

__all__ = ["collector", "families", "http_timing", "page"]
