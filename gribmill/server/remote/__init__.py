"""The server's side of workers without a database connection (`gribmill work --server`)."""

__all__ = ["worker_routes"]
