"""Durable jobs. Knows no weather."""

__all__ = ["cron", "errors", "job_type", "model", "redact", "retry_policy", "sleep", "store", "times", "worker"]
