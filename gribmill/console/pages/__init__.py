"""What each page shows, as plain values: read from a store handle, without HTTP."""

__all__ = [
    "attention",
    "backfills",
    "definitions",
    "groups",
    "job",
    "jobs",
    "operations",
    "overview",
    "runs",
    "triggers",
]
