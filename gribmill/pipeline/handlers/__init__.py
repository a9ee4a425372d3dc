"""What the jobs do: one file per job type, and two that they share. Executors load them by name."""

__all__ = ["ask_mirrors", "spooled_content"]
