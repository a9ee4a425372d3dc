"""Commands for the queue: jobs, one file per verb; triggers; workers."""

__all__ = ["for_each", "json_input", "move"]
