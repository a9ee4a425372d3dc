"""The catalogue of runs, hours, tiles and mirrors: its records, reads, and the events that change it."""

__all__ = ["changes", "events", "reads", "records"]
