"""Retention: which runs are kept or removed, and how much disk space stays free."""

__all__ = ["free_space", "old_runs", "past_runs", "retention", "tenant_retention"]
