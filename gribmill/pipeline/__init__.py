"""The chain: job types, their handlers, and what plans and follows them. Only here does weather meet the queue."""

__all__ = [
    "backfill",
    "backfill_estimate",
    "backfill_progress",
    "checkup",
    "context",
    "follow",
    "health",
    "hour_jobs",
    "job_text",
    "job_types",
    "mirror_status",
    "model_check",
    "models",
    "old_runs",
    "open_queue",
    "remote",
    "retention",
    "s3_events",
    "scan_schedule",
    "status",
]
