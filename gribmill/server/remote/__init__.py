"""The queue for workers without a database (`gribmill work --server`)."""

__all__ = ["worker_routes"]
