"""Backfills: planning, estimating and following them."""

__all__ = ["backfill", "estimate", "progress"]
