"""PostgreSQL's own verbs: they lock rows first, and read them after that."""

__all__ = ["claims", "completion", "due", "enqueue", "holds", "reservations"]
