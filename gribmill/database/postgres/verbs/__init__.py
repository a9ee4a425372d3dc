"""PostgreSQL's own verbs. They lock rows before they read them."""

__all__ = ["claims", "completion", "due", "enqueue", "holds", "reservations"]
