"""Commands that follow models: scan, fetch, backfill, prune, status."""

__all__ = ["status_check"]
