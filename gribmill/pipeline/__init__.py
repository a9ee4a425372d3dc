"""One file per job type: the only place where weather meets the queue."""

__all__ = [
    "backfill",
    "context",
    "follow",
    "job_types",
    "model_check",
    "models",
    "old_runs",
    "open_queue",
    "s3_events",
    "scan_schedule",
    "status",
]
