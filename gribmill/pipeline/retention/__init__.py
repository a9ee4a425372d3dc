"""Old runs: which are kept, which are removed, and how much of the disk stays free."""

__all__ = ["free_space", "old_runs", "past_runs", "retention", "tenant_retention"]
