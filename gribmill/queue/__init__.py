"""A durable job queue. It knows nothing about weather."""

__all__ = [
    "arguments",
    "command",
    "command_type",
    "cron",
    "errors",
    "job_type",
    "model",
    "public_address",
    "redact",
    "remote",
    "retry_policy",
    "sleep",
    "storable_text",
    "store",
    "times",
    "worker",
]
