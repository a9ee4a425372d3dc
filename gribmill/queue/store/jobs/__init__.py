"""Jobs, their attempts and their groups: prepared, put in, listed, ordered."""

__all__ = ["attempts", "groups", "jobs", "listing", "prepare", "rates", "readiness"]
