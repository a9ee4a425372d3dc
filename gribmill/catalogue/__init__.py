"""Which runs, hours, tiles and mirrors exist: records, reads, and the events that change them."""

__all__ = ["changes", "events", "lost_tiles", "reads", "records"]
