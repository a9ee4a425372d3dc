"""A worker's side of the queue over HTTP, for hosts without a database connection."""

__all__ = ["messages", "reads", "remote_database", "remote_store", "server_url"]
