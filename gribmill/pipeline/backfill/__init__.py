"""Backfills: what one would fetch, what it costs, and how far it is."""

__all__ = ["awaited_hours", "backfill", "estimate", "progress"]
