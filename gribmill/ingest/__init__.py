"""Where runs are published, and how their bytes come down."""

__all__ = ["download", "errors", "http", "index", "listing", "mirrors", "models"]
