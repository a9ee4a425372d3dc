"""The status of the chain: what each model has, whether it is late, what is wrong."""

__all__ = ["freshness", "health", "hour_jobs", "mirror_status", "overview", "status", "watch"]
