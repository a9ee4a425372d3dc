"""The content of each page as plain values, without HTTP."""

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
