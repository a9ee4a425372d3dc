"""The chain: job types, their handlers, and scheduling. The only package that uses both the queue and weather data."""

__all__ = [
    "backfill",
    "checkup",
    "context",
    "follow",
    "job_text",
    "job_types",
    "manage_database",
    "model_check",
    "models",
    "open_queue",
    "remote",
    "retention",
    "s3_events",
    "scan_schedule",
    "status",
    "tenant_regions",
    "tenant_retention",
]
