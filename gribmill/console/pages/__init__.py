"""What each page shows, as plain values: read from a store handle, without HTTP."""

__all__ = ["attention", "job", "jobs", "overview", "runs"]
