"""What exists: runs, hours, tiles and mirrors, recorded in the queue's database."""

__all__ = ["changes", "events", "reads", "records"]
