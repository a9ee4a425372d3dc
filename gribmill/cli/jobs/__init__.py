"""Commands for the queue: jobs, one file per verb; triggers; workers."""

__all__ = ["json_input", "move"]
