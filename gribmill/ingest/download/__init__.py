"""From an index to verified messages in the spool."""

__all__ = ["download", "downloaded", "errors", "fetch", "ranges"]
