"""Durable jobs. Knows no weather."""

__all__ = ["backend", "cron", "errors", "job_type", "model", "sleep", "store", "times", "trigger", "worker"]
