"""Which hours of a run a mirror has."""

__all__ = ["available_hours"]
