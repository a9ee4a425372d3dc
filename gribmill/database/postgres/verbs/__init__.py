"""The verbs that PostgreSQL has in its own way: what must not change meanwhile is locked, and looked at afterwards."""

__all__ = ["claims", "completion", "due", "enqueue", "holds", "reservations"]
