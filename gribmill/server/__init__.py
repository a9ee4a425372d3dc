"""The HTTP server of `gribmill serve`: the API and the metrics. The console is added as an extension."""

__all__ = [
    "access",
    "app",
    "change",
    "context",
    "data",
    "etag",
    "extension",
    "listening",
    "problems",
    "router",
    "serving",
    "state",
]
