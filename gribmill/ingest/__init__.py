"""Where runs are published, and how their messages are downloaded and verified."""

__all__ = ["download", "errors", "http", "index", "listing", "mirrors", "models"]
