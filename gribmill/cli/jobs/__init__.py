"""Commands for jobs, one file per verb, and for types and reservations."""

__all__ = ["enqueue", "for_each", "json_input", "move"]
