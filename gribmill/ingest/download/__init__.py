"""From an index to verified messages in the spool."""

__all__ = ["download", "download_plan", "errors", "remote_inventory"]
