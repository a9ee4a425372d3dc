"""Backfills: planning, estimating and following them."""

__all__ = ["awaited_hours", "backfill", "estimate", "progress"]
