"""The queue of another machine, reached through its server: for workers without a database."""

__all__ = ["messages", "reads", "remote_database", "remote_store", "server_url"]
