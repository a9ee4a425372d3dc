"""What each page shows, as plain values, without HTTP."""

__all__ = [
    "attention",
    "backfills",
    "bulk",
    "definitions",
    "groups",
    "job",
    "jobs",
    "operations",
    "overview",
    "runs",
    "triggers",
]
