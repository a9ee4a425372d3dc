"""A durable job queue. It knows nothing about weather."""

__all__ = [
    "arguments",
    "command",
    "cron",
    "errors",
    "job_type",
    "json_schema",
    "model",
    "public_address",
    "redact",
    "remote",
    "sleep",
    "store",
    "times",
    "worker",
]
