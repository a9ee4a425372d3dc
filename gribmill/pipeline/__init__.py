"""The chain: job types, their handlers, and what plans and follows them. Only here does weather meet the queue."""

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
