"""Durable jobs. Knows no weather."""

__all__ = ["cron", "errors", "job_type", "model", "sleep", "store", "times", "trigger", "worker"]
