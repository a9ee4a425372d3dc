"""Durable jobs. Knows no weather."""

__all__ = [
    "arguments",
    "command",
    "command_type",
    "cron",
    "errors",
    "job_type",
    "model",
    "redact",
    "retry_policy",
    "sleep",
    "store",
    "times",
    "worker",
]
