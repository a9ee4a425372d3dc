"""`gribmill serve`: one process with the HTTP API, the console's pages and the metrics."""

__all__ = ["access", "app", "change", "context", "extension", "listening", "problems", "router", "serving"]
