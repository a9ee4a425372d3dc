"""One file per job type: the only place where weather meets the queue."""

__all__ = [
    "backfill",
    "context",
    "estimate",
    "follow",
    "handlers",
    "job_types",
    "model_check",
    "models",
    "open_queue",
    "s3_events",
    "scan_schedule",
    "status",
]
