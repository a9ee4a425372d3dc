"""The HTTP server of `gribmill serve`: the API and the metrics. The console is an extension of it."""

__all__ = [
    "access",
    "api",
    "app",
    "change",
    "context",
    "data",
    "extension",
    "listening",
    "problems",
    "router",
    "serving",
]
